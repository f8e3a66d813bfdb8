// SPDX-License-Identifier: Apache-2.0
// at::parallel_for on threads that ThreadSanitizer knows: LibTorch's own loops run on an OpenMP runtime that is not
// instrumented, whose barriers it cannot see, so that every loop would be reported. Comes before <ATen/Parallel.h>,
// which takes what is declared here where it is compiled without OpenMP; threads and chunks are those that it would
// make.
#pragma once
#ifdef _OPENMP
#error "OpenMP's loops and these exclude one another"
#endif

#include <cstdint>

namespace at::internal {
template <typename F>
void invoke_parallel(int64_t begin, int64_t end, int64_t grain_size, const F& f);
}  // namespace at::internal

#define INTRA_OP_PARALLEL
#include <ATen/Parallel.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

template <typename F>
void at::internal::invoke_parallel(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  int64_t threads = at::get_num_threads();
  if (grain_size > 0) threads = std::min(threads, at::divup(end - begin, grain_size));
  const int64_t chunk = at::divup(end - begin, threads);
  std::mutex mutex;
  std::exception_ptr error;
  std::vector<std::thread> started;
  for (int64_t number = 0; number < threads && begin + number * chunk < end; ++number) {
    started.emplace_back([&, number] {
      const ThreadIdGuard guard(static_cast<int>(number));
      const int64_t first = begin + number * chunk;
      try {
        f(first, std::min(end, first + chunk));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    });
  }
  for (std::thread& thread : started) thread.join();
  if (error) std::rethrow_exception(error);
}
