// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include "tools/analyze/commands.h"
#include "tools/analyze/cost_options.h"
#include "tools/analyze/family_cost.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

struct FamilyCommand {
  CostOptions options{.tokens = {512, 1024, 2048, 4096}, .width = 64};
  std::vector<std::string> names = primal_names();
  std::string pass = "training";

  bench::Pass measured() const { return pass == "training" ? bench::Pass::both : bench::Pass::forward; }

  // Returns the kernels of the family with the chosen members.
  std::vector<PrimalKernel> kernels() const {
    std::vector<PrimalKernel> chosen;
    for (const PrimalKernel& kernel : primal_kernels()) {
      const auto of_kernel = [&](const std::string& name) { return std::ranges::count(kernel.members, name) > 0; };
      PrimalKernel found{kernel.name, {}};
      std::ranges::copy_if(names, std::back_inserter(found.members), of_kernel);
      if (!found.members.empty()) chosen.push_back(found);
    }
    return chosen;
  }

  // Draws one curve per member of a kernel, with the fitted exponent.
  static CurvePanel panel(const std::vector<FamilyCost>& costs, const PrimalKernel& kernel, const std::string& what,
                          double FamilyCost::*quantity) {
    std::vector<Curve> curves;
    for (const std::string& name : kernel.members) {
      Curve curve{name, {}, {}};
      for (const FamilyCost& cost : costs) {
        if (cost.attention != name) continue;
        curve.x.push_back(static_cast<double>(cost.tokens));
        curve.y.push_back(cost.*quantity);
      }
      curves.push_back(curve);
    }
    return fitted_panel({kernel.name + " kernel", "tokens", what, true, true}, what + " against tokens", curves);
  }

  // Prints each member's cost relative to softmax, if measured, at the maximum number of tokens.
  void print_shares(const std::vector<FamilyCost>& costs) const {
    const auto last = std::ranges::max_element(options.tokens);
    const auto found = [&](const std::string& name) {
      return std::find_if(costs.begin(), costs.end(),
                          [&](const FamilyCost& cost) { return cost.attention == name && cost.tokens == *last; });
    };
    const auto softmax = found("softmax");
    if (softmax == costs.end()) return;
    for (const std::string& name : names) {
      const auto cost = found(name);
      std::cout << name << " beside softmax at " << *last << " tokens: multiply-adds "
                << cost->multiply_adds / softmax->multiply_adds << ", seconds " << cost->seconds / softmax->seconds
                << ", bytes " << cost->bytes / softmax->bytes << '\n';
    }
  }

  int execute() const {
    const bench::Sizes sizes = options.begin();
    std::string csv = "attention,tokens,multiply_adds,seconds,bytes\n";
    const auto told = [&](const FamilyCost& cost) {
      throw_if_interrupted("before anything was written");
      csv += cost.attention + "," + std::to_string(cost.tokens) + "," + shortest_text(cost.multiply_adds) + "," +
             shortest_text(cost.seconds) + "," + shortest_text(cost.bytes) + "\n";
    };
    const auto costs = family_costs(names, sizes, options.tokens, measured(), options.timing, told);
    options.output.write_csv(csv);
    const std::pair<const char*, double FamilyCost::*> quantities[] = {{"multiply-adds", &FamilyCost::multiply_adds},
                                                                       {"seconds", &FamilyCost::seconds},
                                                                       {"bytes", &FamilyCost::bytes}};
    const auto groups = kernels();
    std::vector<CurvePanel> panels;
    for (const auto& [what, quantity] : quantities) {
      for (const PrimalKernel& kernel : groups) panels.push_back(panel(costs, kernel, what, quantity));
    }
    options.output.check_drawn(plot_curve_grid(panels, groups.size(), options.output.stem()));
    print_shares(costs);
    return 0;
  }
};

}  // namespace

Command add_family_command(CLI::App& subcommand) {
  auto command = std::make_shared<FamilyCommand>();
  subcommand.add_option("--attentions", command->names, "members, by name")
      ->delimiter(',')
      ->check(CLI::IsMember(primal_names()))
      ->capture_default_str();
  subcommand
      .add_option("--pass", command->pass, "what is measured: a forward and backward pass, or a forward one alone")
      ->check(CLI::IsMember({"training", "inference"}))
      ->capture_default_str();
  command->options.add_to(subcommand, "of the tokens");
  return [command] { return command->execute(); };
}

}  // namespace geosft
