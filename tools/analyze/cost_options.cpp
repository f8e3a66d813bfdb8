// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/cost_options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/experiment/main_guard.h"

namespace geosft {

void CostOptions::add_to(CLI::App& subcommand, const std::string& width_help) {
  add_integers(subcommand, "--tokens", tokens, "numbers of tokens", 1, max_cost_size);
  add_integer(subcommand, "--width", width, width_help, 1, max_cost_size);
  add_integer(subcommand, "--heads", heads, "of the attention", 1, max_cost_size);
  add_integer(subcommand, "--repeats", timing.repeats, "calls, at least", 1, 10000);
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
