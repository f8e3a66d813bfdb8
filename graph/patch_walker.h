// SPDX-License-Identifier: Apache-2.0
// Computes return probabilities of random walks for all nodes of a patch at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/large_pages.h"
#include "graph/walk_graph.h"
#include "graph/walk_reach.h"

namespace geosft {

// The values of all sources for each row of a component; 64 bytes per row, aligned.
template <typename T>
class WalkRows {
 public:
  explicit WalkRows(int64_t rows) : numbers_(static_cast<size_t>(rows * walk_sources<T>), T(0)) {}
  T* data() { return numbers_.data(); }
  T& at(int64_t row, int64_t source) { return numbers_[row * walk_sources<T> + source]; }
  void clear(const int32_t* rows, int64_t count) {
    for (int64_t r = 0; r < count; ++r) std::fill_n(&at(rows[r], 0), walk_sources<T>, T(0));
  }

 private:
  LargeArray<T> numbers_;
};

// Per-thread state: O(rows of the largest component).
template <typename T>
class PatchWalker {
 public:
  PatchWalker(const WalkGraph<T>& graph, int64_t largest_component);

  // Writes the rows of `out` [N, steps] for the patch of component `c` that begins at its row `first`: column t - 1 is
  // (P^t)_ii.
  void run(int64_t c, int64_t first, int64_t steps, T* out);

 private:
  struct Patch {
    int64_t component, size;  // the component's first row and its number of rows
    int64_t first, sources;   // the patch within it
  };
  // The values of one direction of walks, before and after a step.
  struct Front {
    WalkRows<T> from, to;
    WalkReach reach;
    Front(int64_t rows) : from(rows), to(rows), reach(rows) {}
  };
  struct RowList {
    const int32_t* rows;
    int64_t count;
  };

  void start(Front& front, const Patch& patch);
  void finish(Front& front, const Patch& patch);
  RowList rows_of(const Front& front, const Patch& patch) const;
  // Takes one step: the reached rows grow along `reach`, and values are gathered along `lists`.
  RowList step(Front& front, const Patch& patch, const WalkLists<T>& reach, const WalkLists<T>& lists, double* even,
               double* odd);
  void run_symmetric(const Patch& patch, int64_t steps, T* out);
  void run_general(const Patch& patch, int64_t steps, T* out);
  void store(const Patch& patch, const double* sum, int64_t t, int64_t steps, T* out) const;

  const WalkGraph<T>& graph_;
  Front there_;
  std::vector<Front> back_;  // one element for unsymmetric graphs
};

}  // namespace geosft
