// SPDX-License-Identifier: Apache-2.0
// Measurements and their JSON format.
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
  double geosft_ratio = 1;      // minimum of geosft / minimum of this one: below 1 geosft is faster
  double geosft_cpu_ratio = 1;  // the same of the processor times, which a busy machine disturbs less
  std::optional<Work> work = std::nullopt;
  std::optional<double> bound = std::nullopt;  // seconds, of the work on this machine
  int64_t peak_bytes = 0;                      // of tensors beyond the inputs: temporaries, results and gradients
  int64_t result_bytes = 0;                    // of the results and gradients among them
  double items = 0;                            // done in a call; 0: no rate
  std::string items_are = {};
  double keys = 0;  // per query, mean over queries and heads; 0: not an attention

  // The fraction of the bound that was reached; 0 without a bound.
  double share() const { return bound ? *bound / timing.minimum : 0.0; }
};

// All results of one run of the tool.
struct Results {
  Machine machine;
  Sizes sizes;
  std::vector<Measurement> measurements;
};

// Checks that the implementations agree, then measures memory, then time. `stop` is called between calls, and may
// throw.
std::vector<Measurement> measure(
    const Benchmark& benchmark, const TimingOptions& options, const TileRates& rates,
    const std::function<void()>& stop = [] {});

// {"machine": {…}, "sizes": {…}, "measurements": [{"benchmark", "contender", "seconds": {"minimum", "lower_quartile",
// "median", "upper_quartile"}, "cpu_seconds", "repeats", "geosft_ratio", "geosft_cpu_ratio", "peak_bytes",
// "result_bytes", and where they apply "work", "bound_seconds", "bound_share", "items", "items_are",
// "items_per_second", "keys_per_query"}]}
nlohmann::json results_json(const Results& results);
// Reads results_json back, for comparisons. Throws DataError naming the file if it has another format.
Results read_results(const std::filesystem::path& file);

}  // namespace geosft::bench
