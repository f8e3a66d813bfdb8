// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "tools/analyze/attention_cost.h"
#include "tools/analyze/commands.h"
#include "tools/analyze/cost_options.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

struct CostCommand {
  CostOptions options{.tokens = {512, 1024, 2048, 4096, 8192}, .width = 128};
  std::vector<int64_t> keys = {32, 64, 128, 256};
  int64_t max_full_tokens = 4096;

  using Quantity = double AttentionCost::*;

  static int64_t maximum(const std::vector<int64_t>& numbers) {
    return *std::max_element(numbers.begin(), numbers.end());
  }

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
                     [&](const AttentionCost& cost) { return cost.all_tokens || cost.keys == maximum(keys); });
  }

  // Costs by keys, with the maximum number of tokens.
  std::vector<Curve> by_keys(const std::vector<AttentionCost>& costs, Quantity quantity) const {
    return curves_of(costs, &AttentionCost::keys, quantity, [&](const AttentionCost& cost) {
      return !cost.all_tokens && cost.tokens == maximum(options.tokens);
    });
  }

  int execute() const {
    const bench::Sizes sizes = options.begin(keys);
    std::string csv = "attention,tokens,keys,seconds,bytes\n";
    const auto told = [&](const AttentionCost& cost) {
      throw_if_interrupted("before anything was written");
      csv += csv_field(cost.attention) + "," + std::to_string(cost.tokens) + "," + std::to_string(cost.keys) + "," +
             shortest_text(cost.seconds) + "," + shortest_text(cost.bytes) + "\n";
    };
    const auto costs = attention_costs(sizes, options.tokens, max_full_tokens, options.timing, told);
    options.output.write_csv(csv);
    options.output.check_drawn(plot_curves(panels(costs), options.output.stem()));
    return 0;
  }

  std::vector<CurvePanel> panels(const std::vector<AttentionCost>& costs) const {
    const std::string at_keys = " (" + std::to_string(maximum(keys)) + " keys)";
    const std::string at_tokens = " (" + std::to_string(maximum(options.tokens)) + " tokens)";
    std::vector<CurvePanel> all;
    for (const auto& [name, quantity] :
         {std::pair{"seconds", &AttentionCost::seconds}, std::pair{"bytes", &AttentionCost::bytes}}) {
      const Axes against_tokens{c10::str(name, " against tokens", at_keys), "tokens", name, true, true};
      const Axes against_keys{c10::str(name, " against keys", at_tokens), "keys", name, true, true};
      all.push_back(fitted_panel(against_tokens, against_tokens.title, by_tokens(costs, quantity)));
      all.push_back(fitted_panel(against_keys, against_keys.title, by_keys(costs, quantity)));
    }
    return all;
  }
};

}  // namespace

Command add_cost_command(CLI::App& subcommand) {
  auto command = std::make_shared<CostCommand>();
  add_integers(subcommand, "--keys", command->keys, "numbers of sampled tokens", 1, max_cost_size);
  add_integer(subcommand, "--max-full", command->max_full_tokens,
              "tokens beyond which softmax over all of them is left out", 1, max_cost_size, "--most-full");
  command->options.add_to(subcommand, "of the tokens, a multiple of 8");
  return [command] { return command->execute(); };
}

}  // namespace geosft
