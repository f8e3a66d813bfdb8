// SPDX-License-Identifier: Apache-2.0
// Finds the rows of a component that walks of a given length can reach.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/walk_graph.h"

namespace geosft {

// Rows in order of their distance from the start, found one step at a time.
class WalkReach {
 public:
  explicit WalkReach(int64_t largest_component) : reached_(static_cast<size_t>(largest_component), 0) {}

  // Restarts from rows first … first + count - 1 of a component.
  void start(int64_t first, int64_t count) {
    clear();
    for (int64_t row = first; row < first + count; ++row) reach(static_cast<int32_t>(row));
  }

  // Adds the rows that one step along `lists` reaches from the rows added last. `component` is the first row of the
  // component.
  template <typename T>
  void expand(const WalkLists<T>& lists, int64_t component) {
    const size_t end = rows_.size();
    for (; expanded_ < end; ++expanded_) {
      const int64_t row = component + rows_[expanded_];
      for (int64_t e = lists.begin[row]; e < lists.begin[row + 1]; ++e) reach(lists.neighbour[e]);
    }
  }

  const std::vector<int32_t>& rows() const { return rows_; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

 private:
  void reach(int32_t row) {
    if (reached_[row]) return;
    reached_[row] = 1;
    rows_.push_back(row);
  }
  void clear() {
    for (const int32_t row : rows_) reached_[row] = 0;
    rows_.clear();
    expanded_ = 0;
  }

  std::vector<uint8_t> reached_;
  std::vector<int32_t> rows_;
  size_t expanded_ = 0;
};

}  // namespace geosft
