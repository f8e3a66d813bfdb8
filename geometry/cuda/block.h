// SPDX-License-Identifier: Apache-2.0
// Defines the thread block interface of all kernels. A kernel is a sequence of steps; all threads of the block finish a
// step before any begins the next:
//   block.each([&](int thread) { … });       one step: the body for every thread, then a barrier
//   typename Block::template PerThread<State> state(block);   per-thread state kept between steps: state[thread]
//   block.template shared<Tiles>()           the shared memory of the block, not initialized
//   block.add(sum, value)                    within a step: adds to an integer in shared memory, from any thread
//   block.x(), block.y()                     the index of this block in the grid
// Threads communicate only through shared memory, and through global memory that no other block uses at the same time.
// So the same source runs on a GPU (DeviceBlock below), where `each` runs the body in the calling thread and then a
// barrier, and in tests on the CPU, where it loops over the threads.
#pragma once

#include <cstdint>

#include "geometry/host_device.h"

namespace geosft::cuda {

#if defined(__CUDACC__)
class DeviceBlock {
 public:
  template <class State>
  class PerThread {
   public:
    __device__ explicit PerThread(DeviceBlock&) {}
    __device__ State& operator[](int) { return state_; }

   private:
    State state_;
  };

  __device__ int64_t x() const { return blockIdx.x; }
  __device__ int64_t y() const { return blockIdx.y; }

  template <class Body>
  __device__ void each(const Body& body) const {
    body(static_cast<int>(threadIdx.x));
    __syncthreads();
  }

  __device__ void add(int32_t& sum, int32_t value) const { atomicAdd(&sum, value); }

  template <class Tiles>
  __device__ Tiles& shared() const {
    extern __shared__ __align__(16) unsigned char memory[];
    return *reinterpret_cast<Tiles*>(memory);
  }
};
#endif

}  // namespace geosft::cuda
