// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "tools/analyze/analysis.h"
#include "tools/analyze/commands.h"
#include "tools/analyze/family_cost.h"
#include "tools/bench/bench_options.h"
#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

struct FamilyCommand {
  std::vector<int64_t> tokens = {512, 1024, 2048, 4096};
  std::vector<std::string> names = primal_names();
  std::string pass = "training";
  int64_t width = 64, heads = 8;
  uint64_t seed = 0;
  bench::TimingOptions timing{.repeats = 5, .seconds = 0.1};
  bench::MachineOptions machine;
  AnalysisOutput output;

  bench::Pass measured() const { return pass == "training" ? bench::Pass::both : bench::Pass::forward; }

  // Returns the names by their kernels, in the order of the family.
  std::vector<std::pair<std::string, std::vector<std::string>>> kernels() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> groups = {
        {"softmax", {}}, {"linear", {}}, {"sparse", {}}};
    for (const std::string& name : names) {
      const auto found = std::find_if(groups.begin() + 1, groups.end(),
                                      [&](const auto& group) { return name.starts_with(group.first); });
      (found == groups.end() ? groups.front() : *found).second.push_back(name);
    }
    std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
    return groups;
  }

  // Draws one curve per member of a kernel; adds the fitted exponent to its name and prints it.
  CurvePanel panel(const std::vector<FamilyCost>& costs, const std::string& kernel,
                   const std::vector<std::string>& members, const std::string& what,
                   double FamilyCost::*quantity) const {
    CurvePanel all{{kernel + " kernel", "tokens", what, true, true}, {}};
    for (const std::string& name : members) {
      Curve curve{name, {}, {}};
      for (const FamilyCost& cost : costs) {
        if (cost.attention != name) continue;
        curve.x.push_back(static_cast<double>(cost.tokens));
        curve.y.push_back(cost.*quantity);
      }
      if (curve.x.size() >= 2) {
        const std::string law = exponent_text(power_law(curve.x, curve.y));
        std::cout << what << " against tokens, " << name << ": power " << law << '\n';
        curve.name += ": " + law;
      }
      all.curves.push_back(in_order_of_x(curve));
    }
    return all;
  }

  // Prints each member's cost relative to softmax, if measured, at the maximum number of tokens.
  void print_shares(const std::vector<FamilyCost>& costs) const {
    const auto last = std::max_element(tokens.begin(), tokens.end());
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
    const bench::Sizes sizes{.batch = 1, .width = width, .heads = heads, .seed = seed};
    bench::check_sizes(sizes);
    machine.apply();
    install_interrupt_handler();
    std::string csv = "attention,tokens,multiply_adds,seconds,bytes\n";
    const auto costs = family_costs(names, sizes, tokens, measured(), timing, [&](const FamilyCost& cost) {
      throw_if_interrupted("before anything was written");
      csv += cost.attention + "," + std::to_string(cost.tokens) + "," + exact_number(cost.multiply_adds) + "," +
             exact_number(cost.seconds) + "," + exact_number(cost.bytes) + "\n";
    });
    output.write_csv(csv);
    const std::pair<const char*, double FamilyCost::*> quantities[] = {{"multiply-adds", &FamilyCost::multiply_adds},
                                                                       {"seconds", &FamilyCost::seconds},
                                                                       {"bytes", &FamilyCost::bytes}};
    const auto groups = kernels();
    std::vector<CurvePanel> panels;
    for (const auto& [what, quantity] : quantities) {
      for (const auto& [kernel, members] : groups) panels.push_back(panel(costs, kernel, members, what, quantity));
    }
    output.check_drawn(plot_curve_grid(panels, groups.size(), output.stem()));
    print_shares(costs);
    return 0;
  }
};

}  // namespace

Command add_family_command(CLI::App& subcommand) {
  auto command = std::make_shared<FamilyCommand>();
  const auto counts = CLI::Range(1, 1 << 24);
  subcommand.add_option("--tokens", command->tokens, "numbers of tokens")
      ->delimiter(',')
      ->check(counts)
      ->capture_default_str();
  subcommand.add_option("--attentions", command->names, "members, by name")
      ->delimiter(',')
      ->check(CLI::IsMember(primal_names()))
      ->capture_default_str();
  subcommand
      .add_option("--pass", command->pass, "what is measured: a forward and backward pass, or a forward one alone")
      ->check(CLI::IsMember({"training", "inference"}))
      ->capture_default_str();
  subcommand.add_option("--width", command->width, "of the tokens")->check(counts)->capture_default_str();
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
