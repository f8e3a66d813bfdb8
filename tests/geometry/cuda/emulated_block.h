// SPDX-License-Identifier: Apache-2.0
// The blocks of geometry/cuda/block.h on the CPU: a step is a loop over the threads, ascending or descending. Shared
// memory and what threads keep begin as NaN, so what is read before it is written shows in the result; and a step in
// which one thread reads what another writes gives other bits in the other order.
#pragma once

#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "geometry/cuda/block.h"

namespace geosft::test {

enum class ThreadOrder { kAscending, kDescending };

template <int kThreads, ThreadOrder kOrder>
class EmulatedBlock {
 public:
  template <class State>
  class PerThread {
   public:
    explicit PerThread(const EmulatedBlock&) : states_(kThreads) {
      static_assert(std::is_trivially_copyable_v<State>);
      std::memset(static_cast<void*>(states_.data()), 0xFF, states_.size() * sizeof(State));
    }
    State& operator[](int thread) { return states_.at(static_cast<size_t>(thread)); }

   private:
    std::vector<State> states_;
  };

  EmulatedBlock(int64_t x, int64_t y) : x_(x), y_(y) {}
  int64_t x() const { return x_; }
  int64_t y() const { return y_; }

  template <class Body>
  void each(const Body& body) const {
    for (int i = 0; i < kThreads; ++i) body(kOrder == ThreadOrder::kAscending ? i : kThreads - 1 - i);
  }

  void add(int32_t& sum, int32_t value) const { sum += value; }

  template <class Tiles>
  Tiles& shared() {
    static_assert(std::is_trivially_copyable_v<Tiles>);
    const auto tiles = std::make_shared<Tiles>();
    std::memset(static_cast<void*>(tiles.get()), 0xFF, sizeof(Tiles));
    memory_ = tiles;
    return *tiles;
  }

 private:
  int64_t x_, y_;
  std::shared_ptr<void> memory_;
};

// What cuda::Launch is to a GPU: one block after the other.
template <ThreadOrder kOrder>
class EmulatedGrids {
 public:
  template <class Kernel>
  void grid(int64_t x, int64_t y, const typename Kernel::Arguments& arguments) const {
    for (int64_t i = 0; i < x; ++i) {
      for (int64_t j = 0; j < y; ++j) {
        EmulatedBlock<Kernel::kBlockThreads, kOrder> block(i, j);
        Kernel::run(block, arguments);
      }
    }
  }
};

}  // namespace geosft::test
