// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/timing.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace geosft::bench {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The samples of one implementation, and whether more are needed.
struct Series {
  std::vector<Sample> samples;
  double total = 0;

  void add(const Sample& sample) {
    samples.push_back(sample);
    total += sample.wall;
  }
  bool done(const TimingOptions& options) const {
    const auto count = static_cast<int64_t>(samples.size());
    if (count >= std::min<int64_t>(3, options.repeats) && total >= options.patience) return true;
    return count >= options.repeats && (total >= options.seconds || count >= 20 * options.repeats);
  }
};

}  // namespace

Timing summarize(const std::vector<Sample>& samples) {
  TORCH_CHECK(!samples.empty(), "samples: expected at least one");
  std::vector<double> wall;
  double cpu = samples.front().cpu;
  for (const Sample& sample : samples) {
    wall.push_back(sample.wall);
    cpu = std::min(cpu, sample.cpu);
  }
  std::sort(wall.begin(), wall.end());
  return {wall.front(),
          quantile(wall, 0.25),
          quantile(wall, 0.5),
          quantile(wall, 0.75),
          cpu,
          static_cast<int64_t>(wall.size())};
}

Clocks system_clocks() {
  return {wall_seconds, process_seconds};
}

Sample time_once(const std::function<void()>& call) {
  return time_once_by(system_clocks(), call);
}

Sample time_once_by(const Clocks& clocks, const std::function<void()>& call) {
  const double cpu = clocks.cpu(), begin = clocks.wall();
  call();
  const double wall = clocks.wall() - begin;
  return {wall, clocks.cpu() - cpu};
}

std::vector<Timing> time_in_turns(const std::vector<std::function<void()>>& implementations,
                                  const TimingOptions& options, const std::function<void()>& stop,
                                  const std::function<Sample(const std::function<void()>&)>& watch) {
  for (const auto& implementation : implementations) {
    stop();
    implementation();
  }
  std::vector<Series> series(implementations.size());
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < implementations.size(); ++i) {
      if (series[i].done(options)) continue;
      stop();
      series[i].add(watch(implementations[i]));
      more = true;
    }
  }
  std::vector<Timing> timings;
  for (const Series& one : series) timings.push_back(summarize(one.samples));
  return timings;
}

}  // namespace geosft::bench
