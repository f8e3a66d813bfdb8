// SPDX-License-Identifier: Apache-2.0
// The skeleton of kernels whose threads share no memory, and of those that compute one element of an array per thread.
#pragma once

#include "geometry/cuda/block.h"

namespace geosft::cuda {

// The base of a kernel with these arguments, `kThreads` threads per block and no shared memory.
template <class Call, int kThreads>
struct UnsharedKernel {
  static constexpr int kBlockThreads = kThreads;
  struct Tiles {};
  using Arguments = Call;
};

// Calls call.compute(at) for every `at` from 0 to call.elements() - 1, each in one thread.
template <class Call, int kThreads>
struct ElementKernel : UnsharedKernel<Call, kThreads> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Call& call) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kThreads + thread;
      if (at < call.elements()) call.compute(at);
    });
  }
};

// Computes all elements of a call, on a GPU or emulated.
template <int kThreads = 256, class Call, class Run>
void element_grid(const Call& call, Run&& run) {
  run.template grid<ElementKernel<Call, kThreads>>((call.elements() + kThreads - 1) / kThreads, 1, call);
}

// Lists the grids of a call that has elements: one grid, on a GPU or emulated.
template <class Call, class Run>
auto run_grids(const Call& call, Run&& run) -> decltype(void(call.elements())) {
  element_grid(call, run);
}

}  // namespace geosft::cuda
