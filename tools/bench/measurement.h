// SPDX-License-Identifier: Apache-2.0
// Runs measurements and converts them to and from JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/benchmark.h"
#include "tools/bench/machine.h"
#include "tools/bench/timing.h"

namespace geosft::bench {

struct Measurement {
  std::string benchmark, implementation;
  Timing timing;
  double geosft_ratio = 1;      // minimum time of geosft / minimum time of this one: below 1 geosft is faster
  double geosft_cpu_ratio = 1;  // the same for processor times, less affected by a busy machine
  std::optional<Work> work = std::nullopt;
  std::optional<double> bound = std::nullopt;  // lower bound in seconds of `work` on this machine
  int64_t peak_bytes = 0;                      // peak of tensors beyond the inputs: temporaries, results and gradients
  int64_t result_bytes = 0;                    // results and gradients among them
  double items = 0;                            // per call; 0: no rate
  std::string items_are = {};
  double keys = 0;  // per query, mean over queries and heads; 0: not an attention

  // Returns bound / minimum time; 0 without a bound.
  double share() const { return bound ? *bound / timing.minimum : 0.0; }
};

// All results of one run of the tool.
struct Results {
  Machine machine;
  Sizes sizes;
  std::vector<Measurement> measurements;
};

// Checks that the implementations agree, measures memory, then time. `stop` is called between calls, and may throw.
std::vector<Measurement> measure(
    const Benchmark& benchmark, const TimingOptions& options, const TileRates& rates,
    const std::function<void()>& stop = [] {});

// {"machine": {…}, "sizes": {…}, "measurements": [{"benchmark", "contender", "seconds": {"minimum", "lower_quartile",
// "median", "upper_quartile"}, "cpu_seconds", "repeats", "geosft_ratio", "geosft_cpu_ratio", "peak_bytes",
// "result_bytes", and, if they apply, "work", "bound_seconds", "bound_share", "items", "items_are", "items_per_second",
// "keys_per_query"}]}
nlohmann::json results_json(const Results& results);
// Reads results_json back, for comparisons. Throws DataError naming the file if its format is invalid.
Results read_results(const std::filesystem::path& file);

}  // namespace geosft::bench
