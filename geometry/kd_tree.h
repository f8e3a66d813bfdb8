// SPDX-License-Identifier: Apache-2.0
// Searches exact neighbours among the points of one item with nanoflann's k-d tree, for knn and radius_search.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nanoflann.hpp>
#include <vector>

#include "geometry/packed.h"

namespace geosft {

// One neighbour; ordered by distance, then row.
template <typename scalar_t>
struct Neighbour {
  scalar_t dist2;
  int64_t row;
  bool operator<(const Neighbour& other) const {
    return dist2 < other.dist2 || (dist2 == other.dist2 && row < other.row);
  }
};

// Returns (a - b)^2 summed from the first coordinate to the last: nanoflann's L2_Simple_Adaptor adds in the same order.
template <typename scalar_t>
scalar_t squared_distance(const scalar_t* a, const scalar_t* b) {
  const scalar_t dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
  return dx * dx + dy * dy + dz * dz;
}

// `points` [count, 3] must be finite, contiguous and outlive the tree.
template <typename scalar_t>
class KdTree {
 public:
  KdTree(const scalar_t* points, int64_t count) : cloud_{points, count} {
    TORCH_CHECK(count < std::numeric_limits<uint32_t>::max(), "points must have fewer than 2^32 - 1 rows an item, got ",
                count);
    inspect();
    if (count > brute_force_rows && !all_equal_ && !huge_) tree_ = std::make_unique<Tree>(3, cloud_, leaf_rows);
  }

  // Passes every row that could be a result to `results`. Results has scalar_t bound() const, the largest squared
  // distance still of interest, and bool add(dist2, row), which returns false if the row was rejected.
  template <typename Results>
  void search(const scalar_t* query, Results& results) const {
    if (tree_ != nullptr && within_range(query)) {
      Filter<Results> filter{results};
      tree_->findNeighbors(filter, query, nanoflann::SearchParams());
      return;
    }
    for (int64_t row = 0; row < cloud_.count; ++row) {
      const bool added = results.add(squared_distance(query, cloud_.points + 3 * row), row);
      // All rows have the same distance and come in ascending order: after one is rejected, all are.
      if (!added && all_equal_) return;
    }
  }

 private:
  static constexpr int64_t brute_force_rows = 32;
  static constexpr int64_t leaf_rows = 12;

  struct Cloud {
    const scalar_t* points;
    int64_t count;
    size_t kdtree_get_point_count() const { return static_cast<size_t>(count); }
    scalar_t kdtree_get_pt(size_t row, size_t axis) const { return points[3 * row + axis]; }
    template <typename Box>
    bool kdtree_get_bbox(Box&) const {
      return false;
    }
  };
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<scalar_t, Cloud, scalar_t>, Cloud, 3, uint32_t>;

  // nanoflann drops points at exactly worstDist(), and its bound of a branch carries the rounding of every level above
  // it (at most 4 epsilon per level). Both would lose ties, so it gets a slightly larger distance; add() is exact.
  template <typename Results>
  struct Filter {
    Results& results;
    scalar_t worstDist() const {
      constexpr scalar_t slack = sizeof(scalar_t) == 4 ? scalar_t(1e-4) : scalar_t(1e-12);
      return results.bound() * (1 + slack) + std::numeric_limits<scalar_t>::min();
    }
    bool addPoint(scalar_t dist2, uint32_t row) {
      results.add(dist2, row);
      return true;
    }
    bool full() const { return true; }
  };

  // Squares of very large coordinates overflow, and the bound of a branch could become infinity - infinity.
  static bool within_range(const scalar_t* point) {
    const scalar_t limit = std::sqrt(std::numeric_limits<scalar_t>::max()) / 8;
    return std::abs(point[0]) < limit && std::abs(point[1]) < limit && std::abs(point[2]) < limit;
  }

  void inspect() {
    for (int64_t row = 0; row < cloud_.count; ++row) {
      const scalar_t* point = cloud_.points + 3 * row;
      all_equal_ = all_equal_ && std::equal(point, point + 3, cloud_.points);
      huge_ = huge_ || !within_range(point);
    }
  }

  Cloud cloud_;
  bool all_equal_ = true;
  bool huge_ = false;
  std::unique_ptr<Tree> tree_;
};

// One tree per item; null for items without queries (offsets.second), and for those that are searched without.
template <typename scalar_t>
using KdTrees = std::vector<std::unique_ptr<KdTree<scalar_t>>>;

// `without_tree`: whether an item of so many points is searched without a tree.
template <typename scalar_t>
KdTrees<scalar_t> build_kd_trees(
    const scalar_t* points, const OffsetPair& offsets,
    const std::function<bool(int64_t count)>& without_tree = [](int64_t) { return false; }) {
  KdTrees<scalar_t> trees(static_cast<size_t>(offsets.items()));
  at::parallel_for(0, offsets.items(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      if (offsets.second[b] == offsets.second[b + 1]) continue;
      const int64_t first = offsets.first[b], count = offsets.first[b + 1] - first;
      if (without_tree(count)) continue;
      trees[b] = std::make_unique<KdTree<scalar_t>>(points + 3 * first, count);
    }
  });
  return trees;
}

// Finds the item of packed rows, which must be requested in ascending order.
class ItemCursor {
 public:
  explicit ItemCursor(const std::vector<int64_t>& offsets) : offsets_(offsets) {}
  int64_t of(int64_t row) {
    if (row >= offsets_[item_ + 1]) {
      item_ = std::upper_bound(offsets_.begin() + item_ + 1, offsets_.end(), row) - offsets_.begin() - 1;
    }
    return item_;
  }

 private:
  const std::vector<int64_t>& offsets_;
  int64_t item_ = 0;
};

}  // namespace geosft
