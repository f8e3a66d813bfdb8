// SPDX-License-Identifier: Apache-2.0
#include "data/parallel_items.h"

#include <ATen/Parallel.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace geosft {

void run_torch_single_threaded_here() {
  // at::set_num_threads would change the default of every thread started later. OpenMP's own setting is the calling
  // thread's alone; LibTorch overwrites it on the first question in a thread, so that question comes first.
  at::get_num_threads();
  omp_set_num_threads(1);
}

void parallel_items(int64_t count, int64_t threads, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::exception_ptr error;
  int64_t error_item = count;
  const auto run = [&] {
    run_torch_single_threaded_here();
    for (int64_t item = next++; item < count && !failed; item = next++) {
      try {
        work(item);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (item < error_item) {
          error = std::current_exception();
          error_item = item;
        }
        failed = true;
      }
    }
  };
  {
    const int64_t workers = std::min(threads, count);
    std::vector<std::jthread> pool;
    pool.reserve(static_cast<size_t>(workers));
    for (int64_t i = 0; i < workers; ++i) pool.emplace_back(run);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace geosft
