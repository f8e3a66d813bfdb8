// SPDX-License-Identifier: Apache-2.0
// Adds up the time that a caller waits for a loader.
#pragma once

#include <chrono>

namespace geosft {

// `Clock` is a clock of <chrono>.
template <class Clock>
class BasicWaitClock {
 public:
  void reset() { seconds_ = 0.0; }
  double seconds() const { return seconds_; }

  // Returns the result of `work` and adds its duration.
  template <typename Work>
  auto during(Work work) {
    const auto start = Clock::now();
    auto result = work();
    seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
    return result;
  }

 private:
  double seconds_ = 0.0;
};

using WaitClock = BasicWaitClock<std::chrono::steady_clock>;

}  // namespace geosft
