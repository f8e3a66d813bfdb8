// SPDX-License-Identifier: Apache-2.0
// Runs parallel loops with dynamic scheduling.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace geosft {

// A parallel loop over 0 … count - 1 with dynamic scheduling, one index at a time and in order, on ATen's threads, for
// iterations of unequal cost such as the items of a ragged batch. Each thread calls make_worker() once, then the worker
// with each of its indices. The assignment of indices to threads varies: results must not depend on it.
template <class MakeWorker>
void dynamic_parallel_for(int64_t count, const MakeWorker& make_worker) {
  std::atomic<int64_t> next{0};
  at::parallel_for(0, std::min<int64_t>(at::get_num_threads(), count), 1, [&](int64_t, int64_t) {
    auto worker = make_worker();
    for (int64_t n = next++; n < count; n = next++) worker(n);
  });
}

}  // namespace geosft
