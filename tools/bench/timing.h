// SPDX-License-Identifier: Apache-2.0
// Times implementations in turns, so that what disturbs the machine disturbs all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace geosft::bench {

// What a implementation took in seconds: wall time, and processor time of all threads of the process.
struct Sample {
  double wall = 0, cpu = 0;
};

// Of the wall times; `cpu` is the least processor time.
struct Timing {
  double minimum = 0, lower_quartile = 0, median = 0, upper_quartile = 0;
  double cpu = 0;
  int64_t repeats = 0;
};

// Throws for no samples. Quartiles lie between samples where their place does.
Timing summarize(const std::vector<Sample>& samples);

struct TimingOptions {
  int64_t repeats = 15;  // rounds, at least
  double seconds =
      0.3;  // a implementation goes on until its calls took so long together, up to 20 times `repeats` calls
  double patience = 6.0;  // a implementation that took so long together stops after three calls
};

// Each gives its time in seconds.
struct Clocks {
  std::function<double()> wall, cpu;
};
// std::chrono::steady_clock, and the processor time of this process.
Clocks system_clocks();

Sample time_once(const std::function<void()>& call);
// The same by other clocks.
Sample time_once_by(const Clocks& clocks, const std::function<void()>& call);

// A B C A B C …, after one call of each that is not counted. The destruction of what a call gives belongs to it.
// `stop` is asked before each call; it may throw. `watch` makes a call and says what it took.
std::vector<Timing> time_in_turns(
    const std::vector<std::function<void()>>& implementations, const TimingOptions& options,
    const std::function<void()>& stop = [] {},
    const std::function<Sample(const std::function<void()>&)>& watch = time_once);

}  // namespace geosft::bench
