// SPDX-License-Identifier: Apache-2.0
// Sums the repulsion between all points of a layout by an octree (Barnes and Hut, 1986).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace geosft::view {

using Place = std::array<double, 3>;

// An octree over points. Points of a cell that appears smaller than `theta` (side / distance) act as one at their mean.
class RepulsionTree {
 public:
  RepulsionTree(const std::vector<Place>& places, double theta);

  // Returns the sum over all other points q of (p - q) / max(|p - q|^2, floor). Thread-safe.
  Place force_on(const Place& p, double floor) const;
  // Returns the points in an order in which neighbours are near each other, so that threads share what they read.
  const std::vector<int64_t>& order() const { return order_; }

 private:
  struct Cell {
    Place mean;
    double side_squared;
    int64_t first, last;         // places in order_
    int32_t child, child_count;  // rows of cells_; no children: a leaf
  };

  void split(int32_t cell, int level);

  double theta_squared_, side_;
  std::vector<int64_t> order_;
  std::vector<uint64_t> codes_;  // in the order of order_
  std::vector<Place> sorted_;    // places in that order
  std::vector<Place> prefix_;    // sums of the places before each
  std::vector<Cell> cells_;
};

}  // namespace geosft::view
