// SPDX-License-Identifier: Apache-2.0
// Times implementations alternately, so that disturbances of the machine affect all of them equally.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace geosft::bench {

// The time of one call in seconds: wall time, and processor time of all threads of the process.
struct Sample {
  double wall = 0, cpu = 0;
};

// Statistics of the wall times; `cpu` is the minimum processor time.
struct Timing {
  double minimum = 0, lower_quartile = 0, median = 0, upper_quartile = 0;
  double cpu = 0;
  int64_t repeats = 0;
};

// Throws without samples. Quartiles are interpolated between samples.
Timing summarize(const std::vector<Sample>& samples);

struct TimingOptions {
  int64_t repeats = 15;   // minimum number of rounds
  double seconds = 0.3;   // minimum total time per implementation, limited to 20 times `repeats` calls
  double patience = 6.0;  // beyond this total time an implementation stops after three calls
};

// Clocks that return seconds.
struct Clocks {
  std::function<double()> wall, cpu;
};
// Returns std::chrono::steady_clock and the processor time of this process.
Clocks system_clocks();

Sample time_once(const std::function<void()>& call);
// Times one call with the given clocks.
Sample time_once_by(const Clocks& clocks, const std::function<void()>& call);

// Calls A B C A B C …, after one warm-up call of each. The time of a call includes the destruction of its result.
// `stop` is called before each call, and may throw. `watch` runs and times a call.
std::vector<Timing> time_in_turns(
    const std::vector<std::function<void()>>& implementations, const TimingOptions& options,
    const std::function<void()>& stop = [] {},
    const std::function<Sample(const std::function<void()>&)>& watch = time_once);

}  // namespace geosft::bench
