// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "models/theory/probes.h"
#include "tools/analyze/analysis.h"
#include "tools/analyze/commands.h"
#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

struct RankCommand {
  RankInjection options;
  int64_t seeds = 3;
  AnalysisBasics basics;
  AnalysisOutput output;

  Curve curve(bool leak, uint64_t seed) const {
    RankInjection one = options;
    one.leak = leak;
    one.seed = seed;
    Curve found{std::string(leak ? "leaky relu" : "relu without the leak") + ", seed " + std::to_string(seed), {}, {}};
    for (const DepthRank& step : rank_injection(one)) {
      found.x.push_back(static_cast<double>(step.depth));
      found.y.push_back(static_cast<double>(step.rank));
    }
    return found;
  }

  // Prints the mean and the range of the rank over the seeds at some depths.
  void print_summary(bool leak, const std::vector<Curve>& curves) const {
    const auto first = curves.begin() + (leak ? 0 : seeds), end = first + seeds;
    std::cout << (leak ? "leaky relu" : "relu without the leak") << ", rank after";
    for (size_t step = 1; step < first->x.size(); ++step) {
      double sum = 0, minimum = first->y[step], maximum = minimum;
      for (auto curve = first; curve != end; ++curve) {
        sum += curve->y[step];
        minimum = std::min(minimum, curve->y[step]);
        maximum = std::max(maximum, curve->y[step]);
      }
      std::cout << (step == 1 ? " " : "; ") << first->x[step] << " layers: mean " << sum / static_cast<double>(seeds)
                << ", " << minimum << " to " << maximum;
    }
    std::cout << '\n';
  }

  int execute() const {
    basics.apply_runtime();
    install_interrupt_handler();
    std::vector<Curve> curves;
    for (const bool leak : {true, false}) {
      for (int64_t i = 0; i < seeds; ++i) {
        throw_if_interrupted("before anything was written");
        curves.push_back(curve(leak, basics.seed + static_cast<uint64_t>(i)));
        std::cout << curves.back().name << ": rank " << curves.back().y.back() << " after " << options.layers
                  << " layers\n";
      }
    }
    for (const bool leak : {true, false}) print_summary(leak, curves);
    const std::string title =
        std::to_string(options.tokens) + " equal tokens of width " + std::to_string(options.width);
    output.save("depth", "rank", curves, {{{title, "layer", "rank of the tokens"}, curves}});
    return 0;
  }
};

}  // namespace

Command add_rank_command(CLI::App& subcommand) {
  auto command = std::make_shared<RankCommand>();
  RankInjection& options = command->options;
  add_integer(subcommand, "--tokens", options.tokens, "equal tokens", 2, 4096);
  add_integer(subcommand, "--width", options.width, "of the tokens", 2, 4096);
  add_integer(subcommand, "--layers", options.layers, "random single-head layers", 2, 4096);
  add_integer(subcommand, "--every", options.every, "layers between measurements", 1, 4096);
  subcommand.add_flag("--feed-forward", options.feed_forward,
                      "let a feed-forward network follow attention in each layer");
  add_integer(subcommand, "--seeds", command->seeds, "runs", 1, 1000);
  command->output.add_to(subcommand);
  command->basics.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
