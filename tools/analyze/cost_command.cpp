// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "tools/analyze/analysis.h"
#include "tools/analyze/attention_cost.h"
#include "tools/analyze/commands.h"
#include "tools/bench/bench_options.h"
#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

struct CostCommand {
  std::vector<int64_t> tokens = {512, 1024, 2048, 4096, 8192}, keys = {32, 64, 128, 256};
  int64_t width = 128, heads = 8, max_full_tokens = 4096;
  uint64_t seed = 0;
  bench::TimingOptions timing{.repeats = 5, .seconds = 0.1};
  bench::MachineOptions machine;
  AnalysisOutput output;

  using Quantity = double AttentionCost::*;

  static int64_t most(const std::vector<int64_t>& numbers) { return *std::max_element(numbers.begin(), numbers.end()); }

  // Returns one curve per attention, over the costs selected by `chosen`; `x` is the abscissa.
  template <typename Chosen>
  static std::vector<Curve> curves_of(const std::vector<AttentionCost>& costs, int64_t AttentionCost::*x,
                                      Quantity quantity, const Chosen& chosen) {
    std::vector<Curve> curves;
    for (const AttentionCost& cost : costs) {
      if (!chosen(cost)) continue;
      auto found =
          std::find_if(curves.begin(), curves.end(), [&](const Curve& one) { return one.name == cost.attention; });
      if (found == curves.end()) found = curves.insert(curves.end(), Curve{cost.attention, {}, {}});
      found->x.push_back(static_cast<double>(cost.*x));
      found->y.push_back(cost.*quantity);
    }
    return curves;
  }

  // Costs by tokens, with the maximum number of keys.
  std::vector<Curve> by_tokens(const std::vector<AttentionCost>& costs, Quantity quantity) const {
    return curves_of(costs, &AttentionCost::tokens, quantity,
                     [&](const AttentionCost& cost) { return cost.all_tokens || cost.keys == most(keys); });
  }

  // Costs by keys, with the maximum number of tokens.
  std::vector<Curve> by_keys(const std::vector<AttentionCost>& costs, Quantity quantity) const {
    return curves_of(costs, &AttentionCost::keys, quantity,
                     [&](const AttentionCost& cost) { return !cost.all_tokens && cost.tokens == most(tokens); });
  }

  // Fits a power law to each curve with at least two points; adds the exponent to its name and prints it.
  static CurvePanel fitted(const Axes& axes, const std::vector<Curve>& curves) {
    CurvePanel panel{axes, {}};
    for (const Curve& measured : curves) {
      Curve curve = in_order_of_x(measured);
      if (curve.x.size() >= 2) {
        const std::string law = exponent_text(power_law(curve.x, curve.y));
        std::cout << axes.title << ", " << curve.name << ": power " << law << '\n';
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
    const auto costs = attention_costs(sizes, tokens, max_full_tokens, timing, [&](const AttentionCost& cost) {
      throw_if_interrupted("before anything was written");
      csv += csv_field(cost.attention) + "," + std::to_string(cost.tokens) + "," + std::to_string(cost.keys) + "," +
             exact_number(cost.seconds) + "," + exact_number(cost.bytes) + "\n";
    });
    output.write_csv(csv);
    output.check_drawn(plot_curves(panels(costs), output.stem()));
    return 0;
  }

  std::vector<CurvePanel> panels(const std::vector<AttentionCost>& costs) const {
    const std::string at_keys = " (" + std::to_string(most(keys)) + " keys)";
    const std::string at_tokens = " (" + std::to_string(most(tokens)) + " tokens)";
    std::vector<CurvePanel> all;
    for (const auto& [name, quantity] :
         {std::pair{"seconds", &AttentionCost::seconds}, std::pair{"bytes", &AttentionCost::bytes}}) {
      const Axes against_tokens{c10::str(name, " against tokens", at_keys), "tokens", name, true, true};
      const Axes against_keys{c10::str(name, " against keys", at_tokens), "keys", name, true, true};
      all.push_back(fitted(against_tokens, by_tokens(costs, quantity)));
      all.push_back(fitted(against_keys, by_keys(costs, quantity)));
    }
    return all;
  }
};

}  // namespace

Command add_cost_command(CLI::App& subcommand) {
  auto command = std::make_shared<CostCommand>();
  const auto counts = CLI::Range(1, 1 << 24);
  subcommand.add_option("--tokens", command->tokens, "numbers of tokens")
      ->delimiter(',')
      ->check(counts)
      ->capture_default_str();
  subcommand.add_option("--keys", command->keys, "numbers of sampled tokens")
      ->delimiter(',')
      ->check(counts)
      ->capture_default_str();
  subcommand
      .add_option("--most-full", command->max_full_tokens, "tokens beyond which softmax over all of them is left out")
      ->check(counts)
      ->capture_default_str();
  subcommand.add_option("--width", command->width, "of the tokens, a multiple of 8")
      ->check(counts)
      ->capture_default_str();
  subcommand.add_option("--heads", command->heads, "of the attention")->check(counts)->capture_default_str();
  subcommand.add_option("--repeats", command->timing.repeats, "calls, at least")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  subcommand.add_option("--seed", command->seed, "of the numbers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->machine.add_to(subcommand);
  command->output.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
