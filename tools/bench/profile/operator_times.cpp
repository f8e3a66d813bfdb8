// SPDX-License-Identifier: Apache-2.0
// Measures where the time of a program goes, by LibTorch operator: preloaded into any of the tools (LD_PRELOAD), it
// prints the operators with the most time of their own, which does not include that of the operators they call.
#include <ATen/record_function.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Cost {
  double seconds = 0.0;
  int64_t calls = 0;
};

// Never destroyed: operators may run while the program ends.
std::map<std::string, Cost>& costs() {
  static auto* const all = new std::map<std::string, Cost>();
  return *all;
}
std::mutex& guard() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

// The calls that a thread is in, with the time that each has spent in others.
thread_local std::vector<double> spent_below;

struct Call : at::ObserverContext {
  Clock::time_point start = Clock::now();
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& /*function*/) {
  spent_below.push_back(0.0);
  return std::make_unique<Call>();
}

void end(const at::RecordFunction& function, at::ObserverContext* context) {
  const double all = std::chrono::duration<double>(Clock::now() - static_cast<Call*>(context)->start).count();
  const double below = spent_below.back();
  spent_below.pop_back();
  if (!spent_below.empty()) spent_below.back() += all;
  const std::lock_guard lock(guard());
  Cost& cost = costs()[function.name()];
  cost.seconds += all - below;
  ++cost.calls;
}

struct Report {
  Report() {
    at::addGlobalCallback(
        at::RecordFunctionCallback(begin, end).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  }
  ~Report() {
    const std::lock_guard lock(guard());
    std::vector<std::pair<std::string, Cost>> sorted(costs().begin(), costs().end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
    double all = 0.0;
    for (const auto& [name, cost] : sorted) all += cost.seconds;
    constexpr size_t shown = 40;
    sorted.resize(std::min(sorted.size(), shown));
    std::fprintf(stderr, "%10s %6s %9s  operator\n", "seconds", "share", "calls");
    for (const auto& [name, cost] : sorted) {
      std::fprintf(stderr, "%10.3f %5.1f%% %9lld  %s\n", cost.seconds, 100.0 * cost.seconds / all,
                   static_cast<long long>(cost.calls), name.c_str());
    }
  }
} report;

}  // namespace
