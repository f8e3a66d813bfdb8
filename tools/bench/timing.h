// SPDX-License-Identifier: Apache-2.0
// Times implementations alternately, so that disturbances of the machine affect all of them.
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
  int64_t repeats = 15;  // rounds, at least
  double seconds =
      0.3;  // an implementation goes on until its calls took so long together, up to 20 times `repeats` calls
  double patience = 6.0;  // an implementation that took so long together stops after three calls
};

// Each returns its time in seconds.
struct Clocks {
  std::function<double()> wall, cpu;
};
// std::chrono::steady_clock, and the processor time of this process.
Clocks system_clocks();

Sample time_once(const std::function<void()>& call);
// The same with other clocks.
Sample time_once_by(const Clocks& clocks, const std::function<void()>& call);

// Calls A B C A B C …, after one warm-up call of each. Destroying the result of a call counts as part of it. `stop` is
// called before each call, and may throw. `watch` makes a call and returns its time.
std::vector<Timing> time_in_turns(
    const std::vector<std::function<void()>>& implementations, const TimingOptions& options,
    const std::function<void()>& stop = [] {},
    const std::function<Sample(const std::function<void()>&)>& watch = time_once);

}  // namespace geosft::bench
