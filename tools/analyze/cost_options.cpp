// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/cost_options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

const CLI::Range permitted(1, 1 << 24);

}  // namespace

void add_counts(CLI::App& subcommand, const std::string& option, std::vector<int64_t>& counts,
                const std::string& help) {
  subcommand.add_option(option, counts, help)->delimiter(',')->check(permitted)->capture_default_str();
}

void add_count(CLI::App& subcommand, const std::string& option, int64_t& count, const std::string& help) {
  subcommand.add_option(option, count, help)->check(permitted)->capture_default_str();
}

void CostOptions::add_to(CLI::App& subcommand, const std::string& width_help) {
  add_counts(subcommand, "--tokens", tokens, "numbers of tokens");
  add_count(subcommand, "--width", width, width_help);
  add_count(subcommand, "--heads", heads, "of the attention");
  subcommand.add_option("--repeats", timing.repeats, "calls, at least")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  subcommand.add_option("--seed", seed, "of the numbers")->check(CLI::NonNegativeNumber)->capture_default_str();
  machine.add_to(subcommand);
  output.add_to(subcommand);
}

bench::Sizes CostOptions::begin(const std::vector<int64_t>& keys) const {
  bench::Sizes sizes{.batch = 1, .width = width, .heads = heads, .seed = seed};
  if (!keys.empty()) sizes.keys = keys;
  bench::check_sizes(sizes);
  machine.apply();
  install_interrupt_handler();
  return sizes;
}

CurvePanel fitted_panel(const Axes& axes, const std::string& what, const std::vector<Curve>& curves) {
  CurvePanel panel{axes, {}};
  for (const Curve& measured : curves) {
    Curve curve = in_order_of_x(measured);
    if (curve.x.size() >= 2) {
      const std::string law = exponent_text(power_law(curve.x, curve.y));
      std::cout << what << ", " << curve.name << ": power " << law << '\n';
      curve.name += ": " + law;
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

}  // namespace geosft
