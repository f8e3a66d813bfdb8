// SPDX-License-Identifier: Apache-2.0
// Defines the options of analyses that measure the cost of attentions, and fits power laws to what they measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analyze/analysis.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/timing.h"

namespace geosft {

// The largest number of tokens, keys, channels or heads.
inline constexpr int64_t max_cost_size = 1 << 24;

struct CostOptions {
  std::vector<int64_t> tokens;
  int64_t width, heads = 8;
  uint64_t seed = 0;
  bench::TimingOptions timing{.repeats = 5, .seconds = 0.1};
  bench::MachineOptions machine = {};
  AnalysisOutput output = {};

  void add_to(CLI::App& subcommand, const std::string& width_help);
  // Sets the number of threads and the vector target, and lets signals end the analysis. Returns the sizes of one item
  // with `keys` sampled tokens. Throws UsageError for options that contradict each other.
  bench::Sizes begin(const std::vector<int64_t>& keys = {}) const;
};

// Fits a power law to each curve with at least two points; adds the exponent to its name and prints it, with `what` was
// measured.
CurvePanel fitted_panel(const Axes& axes, const std::string& what, const std::vector<Curve>& curves);

}  // namespace geosft
