// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace geosft {

// Hands out the numbers 0 … count - 1, in this order and one at a time, to the threads of ATen's pool: pieces of work
// may be as unequal as the items of a ragged batch. make_worker() gives what a thread calls with each number it gets.
// Which thread gets which is chance: results must not depend on it.
template <class MakeWorker>
void dynamic_parallel_for(int64_t count, const MakeWorker& make_worker) {
  std::atomic<int64_t> next{0};
  at::parallel_for(0, std::min<int64_t>(at::get_num_threads(), count), 1, [&](int64_t, int64_t) {
    auto worker = make_worker();
    for (int64_t n = next++; n < count; n = next++) worker(n);
  });
}

}  // namespace geosft
