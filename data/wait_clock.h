// SPDX-License-Identifier: Apache-2.0
// Adds up what a loader makes its caller wait.
#pragma once

#include <chrono>

namespace geosft {

class WaitClock {
 public:
  void reset() { seconds_ = 0.0; }
  double seconds() const { return seconds_; }

  // What `work` returns; the time it took is counted.
  template <typename Work>
  auto during(Work work) {
    const auto start = std::chrono::steady_clock::now();
    auto result = work();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

 private:
  double seconds_ = 0.0;
};

}  // namespace geosft
