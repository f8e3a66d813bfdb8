// SPDX-License-Identifier: Apache-2.0
// Computes return probabilities of random walks, one node at a time.
#pragma once

#include <cstdint>

#include "graph/large_pages.h"
#include "graph/walk_graph.h"

namespace geosft {

// For symmetric graphs in which the walks of neighbouring nodes diverge quickly, so that patches gain little: follows
// only the links taken by walks from one source. Per-thread state: O(rows of the largest component).
template <typename T>
class SourceWalker {
 public:
  SourceWalker(const WalkGraph<T>& graph, int64_t largest_component);

  // Writes the rows of `out` [N, steps] for the patch of component `c` that begins at its row `first`: column t - 1 is
  // (P^t)_ii.
  void run(int64_t c, int64_t first, int64_t steps, T* out);

 private:
  // The rows that the walks are at, and their values.
  struct Place {
    int32_t row;
    T number;
  };
  // The sum of a row in step `stamp`; a stale stamp means 0.
  struct Slot {
    T sum;
    uint32_t stamp;
  };

  void run_source(int64_t component, int64_t source, int64_t steps, T* result);
  void next_stamp();
  // Takes one step: fills reached_ and the sums of its rows.
  template <bool weighted>
  void scatter(int64_t component);

  const WalkGraph<T>& graph_;
  LargeArray<Slot> slots_;
  LargeArray<Place> places_;
  LargeArray<int32_t> reached_;  // the first reached_count_; one more is scratch
  int64_t reached_count_ = 0;
  uint32_t stamp_ = 0;
};

}  // namespace geosft
