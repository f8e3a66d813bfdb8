// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "tools/analyze/analysis.h"
#include "tools/analyze/attention_cost.h"
#include "tools/analyze/commands.h"
#include "tools/bench/bench_options.h"
#include "tools/common/main_guard.h"

namespace geosft {
namespace {

struct CostCommand {
  std::vector<int64_t> tokens = {512, 1024, 2048, 4096, 8192}, keys = {32, 64, 128, 256};
  int64_t width = 128, heads = 8, most_full = 4096;
  uint64_t seed = 0;
  bench::TimingOptions timing{.repeats = 5, .seconds = 0.1};
  bench::MachineOptions machine;
  AnalysisOutput output;

  using Quantity = double AttentionCost::*;

  // A curve an attention, with its fitted exponent.
  static std::vector<Curve> by_tokens(const std::vector<AttentionCost>& costs, Quantity quantity) {
    std::vector<Curve> curves;
    for (const AttentionCost& cost : costs) {
      auto found =
          std::find_if(curves.begin(), curves.end(), [&](const Curve& one) { return one.name == cost.attention; });
      if (found == curves.end()) found = curves.insert(curves.end(), Curve{cost.attention, {}, {}});
      found->x.push_back(static_cast<double>(cost.tokens));
      found->y.push_back(cost.*quantity);
    }
    return curves;
  }

  // Ours at the most tokens, over the keys.
  static std::vector<Curve> by_keys(const std::vector<AttentionCost>& costs, Quantity quantity) {
    Curve plain{"sampling", {}, {}}, points{"sampling with distances", {}, {}};
    for (const AttentionCost& cost : costs) {
      if (cost.tokens != costs.back().tokens || cost.attention.rfind("sampling", 0) != 0) continue;
      Curve& curve = cost.attention.find("distances") == std::string::npos ? plain : points;
      curve.x.push_back(static_cast<double>(cost.keys));
      curve.y.push_back(cost.*quantity);
    }
    return {plain, points};
  }

  // The curves that have a slope, with it in their names and on stdout.
  static CurvePanel fitted(const Axes& axes, std::vector<Curve> curves) {
    CurvePanel panel{axes, {}};
    for (Curve& curve : curves) {
      if (curve.x.size() >= 2) {
        const std::string law = exponent_text(power_law(curve.x, curve.y));
        std::cout << axes.y << " against " << axes.x << ", " << curve.name << ": power " << law << '\n';
        curve.name += ": " + law;
      }
      panel.curves.push_back(curve);
    }
    return panel;
  }

  int execute() const {
    bench::Sizes sizes{.batch = 1, .width = width, .heads = heads, .keys = keys, .seed = seed};
    bench::check_sizes(sizes);
    machine.apply();
    install_interrupt_handler();
    std::string csv = "attention,tokens,keys,seconds,bytes\n";
    const auto costs = attention_costs(sizes, tokens, most_full, timing, [&](const AttentionCost& cost) {
      throw_if_interrupted("before anything was written");
      csv += csv_field(cost.attention) + "," + std::to_string(cost.tokens) + "," + std::to_string(cost.keys) + "," +
             exact_number(cost.seconds) + "," + exact_number(cost.bytes) + "\n";
    });
    output.write_csv(csv);
    const auto axes = [](const std::string& x, const std::string& y) {
      return Axes{y + " against " + x, x, y, true, true};
    };
    AnalysisOutput::report(plot_curves({fitted(axes("tokens", "seconds"), by_tokens(costs, &AttentionCost::seconds)),
                                        fitted(axes("tokens", "bytes"), by_tokens(costs, &AttentionCost::bytes)),
                                        fitted(axes("keys", "seconds"), by_keys(costs, &AttentionCost::seconds)),
                                        fitted(axes("keys", "bytes"), by_keys(costs, &AttentionCost::bytes))},
                                       output.stem()));
    return 0;
  }
};

}  // namespace

Command add_cost_command(CLI::App& verb) {
  auto command = std::make_shared<CostCommand>();
  const auto counts = CLI::Range(1, 1 << 24);
  verb.add_option("--tokens", command->tokens, "numbers of tokens")
      ->delimiter(',')
      ->check(counts)
      ->capture_default_str();
  verb.add_option("--keys", command->keys, "numbers of sampled tokens")
      ->delimiter(',')
      ->check(counts)
      ->capture_default_str();
  verb.add_option("--most-full", command->most_full, "tokens beyond which softmax over all of them is left out")
      ->check(counts)
      ->capture_default_str();
  verb.add_option("--width", command->width, "of the tokens, a multiple of 8")->check(counts)->capture_default_str();
  verb.add_option("--heads", command->heads, "of the attention")->check(counts)->capture_default_str();
  verb.add_option("--repeats", command->timing.repeats, "calls, at least")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  verb.add_option("--seed", command->seed, "of the numbers")->check(CLI::NonNegativeNumber)->capture_default_str();
  command->machine.add_to(verb);
  command->output.add_to(verb);
  return [command] { return command->execute(); };
}

}  // namespace geosft
