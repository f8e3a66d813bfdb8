// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "data/seeds.h"
#include "models/theory/probes.h"
#include "tools/analyze/analysis.h"
#include "tools/analyze/commands.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

constexpr size_t shown_contradictions = 3;
constexpr int64_t max_tries = 200;
constexpr double segment_length = 0.3;  // deviation of the difference of two weights

std::string row_text(const at::Tensor& row) {
  std::string text;
  for (int64_t i = 0; i < row.size(0); ++i) text += (i == 0 ? "(" : ", ") + shortest_text(row[i].item<double>());
  return text + ")";
}

struct PseudoconvexityCommand {
  int64_t segments = 20000, keys = 5, width = 4, channels = 2;
  std::string in = "scores";
  AnalysisBasics basics;
  AnalysisOutput output;

  // Prints the largest drops.
  static void show(std::vector<Contradiction> found, const at::Tensor& x1, const at::Tensor& x2) {
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.after - a.before < b.after - b.before; });
    for (size_t i = 0; i < std::min(found.size(), shown_contradictions); ++i) {
      const Contradiction& one = found[i];
      std::cout << "  from " << row_text(x1[one.row]) << " to " << row_text(x2[one.row]) << " component "
                << one.component << " falls from " << one.before << " to " << one.after << ", though its slope is "
                << one.slope << '\n';
    }
  }

  int execute() const {
    basics.apply_runtime();
    at::Generator generator = make_generator(basics.seed);
    const Probe probe = in == "weights" ? weight_probe(generator) : score_probe(generator);
    std::string csv = "probability,segments,components,contradictions\n";
    std::vector<Curve> curves;
    for (const auto& [name, map] : probe.maps) {
      const std::vector<Contradiction> found = contradictions(map, probe.x1, probe.x2);
      std::cout << name << ": " << found.size() << " contradictions on " << segments << " segments, " << keys
                << " components each\n";
      show(found, probe.x1, probe.x2);
      csv += name + "," + std::to_string(segments) + "," + std::to_string(keys) + "," + std::to_string(found.size()) +
             "\n";
      curves.push_back(drops(name, found));
    }
    output.write_csv(csv);
    output.check_drawn(plot_curves(
        {{{"contradictions to pseudoconvexity, the largest first", "number", "fall of the component"}, curves}},
        output.stem()));
    return 0;
  }

 private:
  // Segments from the rows of x1 to those of x2, and the probabilities as functions on them.
  struct Probe {
    at::Tensor x1, x2;
    std::vector<std::pair<std::string, ProbabilityMap>> maps;
  };

  // Segments of scores in one orthant.
  Probe score_probe(at::Generator& generator) const {
    const at::Tensor x1 = at::randn({segments, keys}, generator, at::kDouble);
    const at::Tensor x2 = at::randn({segments, keys}, generator, at::kDouble).abs() * x1.sign();
    return {x1, x2, {{"leaky relu", leaky_relu_probability}, {"softmax", softmax_probability}}};
  }

  // Segments of weights W_Q and W_K in one region of the maxout scores. The second end is found by rejection.
  Probe weight_probe(at::Generator& generator) const {
    const at::Tensor tokens = at::randn({1 + keys, width}, generator, at::kDouble);
    at::Tensor x1, x2;
    for (int64_t tries = 0; !x1.defined() || x1.size(0) < segments; ++tries) {
      TORCH_CHECK(tries < max_tries, "of ", segments * max_tries, " random segments only ",
                  x1.defined() ? x1.size(0) : 0, " lie in one region: fewer --keys or --channels have larger regions");
      const at::Tensor w1 = at::randn({segments, 2 * width * channels}, generator, at::kDouble);
      const at::Tensor w2 = w1 + segment_length * at::randn(w1.sizes(), generator, at::kDouble);
      const at::Tensor same = in_one_region(tokens, w1, w2);
      const auto append = [&](at::Tensor& all, const at::Tensor& more) {
        all = all.defined() ? at::cat({all, more.index({same})}) : more.index({same});
      };
      append(x1, w1);
      append(x2, w2);
    }
    return {x1.slice(0, 0, segments),
            x2.slice(0, 0, segments),
            {{"leaky relu of maxout scores",
              [=](const at::Tensor& w) { return leaky_relu_probability(maxout_scores_of_weights(tokens, w)); }},
             {"softmax of dot products",
              [=](const at::Tensor& w) { return softmax_probability(dot_scores_of_weights(tokens, w)); }}}};
  }

  // Returns the drops of the components in descending order; a single 0 if there are no contradictions.
  static Curve drops(const std::string& name, const std::vector<Contradiction>& found) {
    Curve curve{name + ": " + std::to_string(found.size()), {0.0}, {0.0}};
    std::vector<double> falls;
    falls.reserve(found.size());
    for (const Contradiction& one : found) falls.push_back(one.before - one.after);
    std::sort(falls.begin(), falls.end(), std::greater<>());
    if (!falls.empty()) curve.x.clear(), curve.y.clear();
    for (size_t i = 0; i < falls.size(); ++i) {
      curve.x.push_back(static_cast<double>(i));
      curve.y.push_back(falls[i]);
    }
    return curve;
  }
};

}  // namespace

Command add_pseudoconvexity_command(CLI::App& subcommand) {
  auto command = std::make_shared<PseudoconvexityCommand>();
  add_integer(subcommand, "--segments", command->segments, "random segments", 1, 10000000);
  add_integer(subcommand, "--keys", command->keys, "scores of a row", 2, 1000);
  subcommand
      .add_option(
          "--in", command->in,
          "scores: in the scores of one orthant; weights: in W_Q and W_K, where maxout scores are linear in them")
      ->check(CLI::IsMember({"scores", "weights"}))
      ->capture_default_str();
  add_integer(subcommand, "--width", command->width, "of tokens, for --in weights", 1, 1000);
  add_integer(subcommand, "--channels", command->channels, "of the head, for --in weights", 1, 1000);
  command->output.add_to(subcommand);
  command->basics.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
