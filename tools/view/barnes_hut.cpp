// SPDX-License-Identifier: Apache-2.0
#include "tools/view/barnes_hut.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace geosft::view {
namespace {

constexpr int depth = 20;         // levels of the octree: bits of a coordinate
constexpr int64_t leaf_size = 8;  // points of a cell that is not divided

// Spreads the lowest 20 bits of a number to every third bit.
uint64_t spread_bits(uint64_t bits) {
  bits = (bits | bits << 32) & 0x1f00000000ffffULL;
  bits = (bits | bits << 16) & 0x1f0000ff0000ffULL;
  bits = (bits | bits << 8) & 0x100f00f00f00f00fULL;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3ULL;
  return (bits | bits << 2) & 0x1249249249249249ULL;
}

}  // namespace

RepulsionTree::RepulsionTree(const std::vector<Place>& places, double theta) : theta_squared_(theta * theta) {
  const size_t count = places.size();
  Place low = places.front(), high = places.front();
  for (const Place& p : places) {
    for (size_t c = 0; c < 3; ++c) low[c] = std::min(low[c], p[c]), high[c] = std::max(high[c], p[c]);
  }
  side_ = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2], 1e-300});
  const double scale = ((1 << depth) - 1) / side_;
  std::vector<uint64_t> codes(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < 3; ++c) codes[i] |= spread_bits(static_cast<uint64_t>((places[i][c] - low[c]) * scale)) << c;
  }
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), int64_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int64_t a, int64_t b) { return codes[static_cast<size_t>(a)] < codes[static_cast<size_t>(b)]; });
  prefix_.assign(count + 1, Place{});
  for (size_t i = 0; i < count; ++i) {
    const auto row = static_cast<size_t>(order_[i]);
    codes_.push_back(codes[row]);
    sorted_.push_back(places[row]);
    for (size_t c = 0; c < 3; ++c) prefix_[i + 1][c] = prefix_[i][c] + places[row][c];
  }
  cells_.push_back({{}, side_ * side_, 0, static_cast<int64_t>(count), 0, 0});
  split(0, 0);
}

void RepulsionTree::split(int32_t cell, int level) {
  const int64_t first = cells_[static_cast<size_t>(cell)].first, last = cells_[static_cast<size_t>(cell)].last;
  const auto at_first = static_cast<size_t>(first), at_last = static_cast<size_t>(last);
  for (size_t c = 0; c < 3; ++c) {
    cells_[static_cast<size_t>(cell)].mean[c] =
        (prefix_[at_last][c] - prefix_[at_first][c]) / static_cast<double>(last - first);
  }
  if (last - first <= leaf_size || level == depth) return;
  const int shift = 3 * (depth - 1 - level);
  const auto child = static_cast<int32_t>(cells_.size());
  const double side = side_ / std::pow(2.0, level + 1);
  for (int64_t begin = first; begin < last;) {
    const uint64_t octant = codes_[static_cast<size_t>(begin)] >> shift;
    const auto end = std::partition_point(codes_.begin() + begin, codes_.begin() + last,
                                          [&](uint64_t code) { return code >> shift == octant; });
    cells_.push_back({{}, side * side, begin, end - codes_.begin(), 0, 0});
    begin = end - codes_.begin();
  }
  const auto child_count = static_cast<int32_t>(cells_.size()) - child;
  cells_[static_cast<size_t>(cell)].child = child;
  cells_[static_cast<size_t>(cell)].child_count = child_count;
  for (int32_t i = 0; i < child_count; ++i) split(child + i, level + 1);
}

Place RepulsionTree::force_on(const Place& p, double floor) const {
  Place force = {};
  const auto add = [&](const Place& q, double weight) {
    const double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    const double factor = weight / std::max(x * x + y * y + z * z, floor);
    force[0] += factor * x, force[1] += factor * y, force[2] += factor * z;
  };
  std::array<int32_t, 8 * depth + 8> stack;
  size_t height = 0;
  stack[height++] = 0;
  while (height > 0) {
    const Cell& cell = cells_[static_cast<size_t>(stack[--height])];
    const double x = p[0] - cell.mean[0], y = p[1] - cell.mean[1], z = p[2] - cell.mean[2];
    if (cell.side_squared < theta_squared_ * (x * x + y * y + z * z)) {
      add(cell.mean, static_cast<double>(cell.last - cell.first));
    } else if (cell.child_count > 0) {
      for (int32_t i = 0; i < cell.child_count; ++i) stack[height++] = cell.child + i;
    } else {
      for (int64_t i = cell.first; i < cell.last; ++i) add(sorted_[static_cast<size_t>(i)], 1.0);
    }
  }
  return force;
}

}  // namespace geosft::view
