// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/bandwidth.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace geosft::bench {

double measure_bandwidth(int64_t threads, int64_t bytes) {
  constexpr int64_t tries = 5;
  const std::vector<char> from(static_cast<size_t>(bytes), 1);
  std::vector<char> to(static_cast<size_t>(bytes), 0);
  double best = 0;
  for (int64_t i = 0; i < tries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    at::parallel_for(0, bytes, (bytes + threads - 1) / threads, [&](int64_t first, int64_t last) {
      std::memcpy(to.data() + first, from.data() + first, static_cast<size_t>(last - first));
    });
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 2.0 * static_cast<double>(bytes) / spent.count());
  }
  return best;
}

}  // namespace geosft::bench
