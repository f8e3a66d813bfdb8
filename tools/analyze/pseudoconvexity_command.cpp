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

namespace geosft {
namespace {

constexpr size_t shown_contradictions = 3;

std::string row_text(const at::Tensor& row) {
  std::string text;
  for (int64_t i = 0; i < row.size(0); ++i) text += (i == 0 ? "(" : ", ") + exact_number(row[i].item<double>());
  return text + ")";
}

struct PseudoconvexityCommand {
  int64_t segments = 20000, keys = 5;
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
    const at::TensorOptions wide = at::TensorOptions().dtype(at::kDouble);
    const at::Tensor x1 = at::randn({segments, keys}, generator, wide);
    const at::Tensor x2 = at::randn({segments, keys}, generator, wide).abs() * x1.sign();  // in the same orthant
    std::string csv = "probability,segments,components,contradictions\n";
    std::vector<Curve> curves;
    for (const auto& [name, map] : {std::pair<std::string, ProbabilityMap>{"leaky relu", leaky_relu_probability},
                                    std::pair<std::string, ProbabilityMap>{"softmax", softmax_probability}}) {
      const std::vector<Contradiction> found = contradictions(map, x1, x2);
      std::cout << name << ": " << found.size() << " contradictions on " << segments << " segments, " << keys
                << " components each\n";
      show(found, x1, x2);
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
  subcommand.add_option("--segments", command->segments, "random pairs of scores of one orthant")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  subcommand.add_option("--keys", command->keys, "scores of a row")->check(CLI::Range(2, 1000))->capture_default_str();
  command->output.add_to(subcommand);
  command->basics.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
