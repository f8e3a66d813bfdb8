// SPDX-License-Identifier: Apache-2.0
// Implements the data structure of farthest point sampling: the points of one item in the buckets of a k-d tree, with
// the squared distance of each point to the rows chosen so far.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace geosft {

template <typename scalar_t>
class BucketedCloud {
 public:
  // `points` [count, 3] contiguous and finite, count >= 1.
  BucketedCloud(const scalar_t* points, int64_t count) {
    TORCH_CHECK(count <= std::numeric_limits<int32_t>::max(), "points must have fewer than 2^31 rows an item, got ",
                count);
    std::vector<Entry> entries(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      entries[i] = {{points[3 * i], points[3 * i + 1], points[3 * i + 2]}, static_cast<int32_t>(i)};
    }
    split(entries.data(), entries.data() + count);
    fill(entries);
  }

  // Chooses `row` first.
  void choose_first(int64_t row) { choose(std::find(rows_.begin(), rows_.end(), row) - rows_.begin()); }

  // Chooses and returns the row farthest from all chosen rows; at least one row must be left.
  int64_t choose_next() {
    const int32_t row = farthest_.row;
    choose(farthest_.slot);
    return row;
  }

 private:
  // Every supported machine has vector registers of 16 bytes; Lanes holds as many scalars as fit.
  using Lanes __attribute__((vector_size(16))) = scalar_t;
  using Index = std::conditional_t<sizeof(scalar_t) == 4, int32_t, int64_t>;
  using IndexLanes __attribute__((vector_size(16))) = Index;
  static constexpr int64_t lanes = 16 / sizeof(scalar_t);
  static constexpr int64_t bucket_rows = 32;
  static constexpr int64_t group_buckets = 16;

  struct Entry {
    std::array<scalar_t, 3> at;
    int32_t row;
  };
  struct Farthest {
    scalar_t dist2 = -1;  // -1: every row is chosen
    int32_t row = 0;
    int64_t slot = 0;
    bool operator<(const Farthest& other) const {
      return dist2 < other.dist2 || (dist2 == other.dist2 && row > other.row);
    }
  };
  using Point = std::array<scalar_t, 3>;

  // Computes both the distance to a point and the distance to a box. Every step is monotone under rounding, so the
  // bound of a box never exceeds the distance of a point inside, to the last bit. (This folder is compiled without
  // contraction to fused multiply-add, which could round the two differently.)
  static Lanes squared_length(Lanes dx, Lanes dy, Lanes dz) { return dx * dx + dy * dy + dz * dz; }

  static Lanes load(const scalar_t* from) {
    Lanes value;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
  }
  static void store(scalar_t* to, Lanes value) { __builtin_memcpy(to, &value, sizeof(value)); }

  // Boxes as a structure of arrays, padded to whole vectors.
  struct Boxes {
    std::array<std::vector<scalar_t>, 3> low, high;
    std::vector<scalar_t> bound;
    std::vector<Farthest> farthest;
    void resize(int64_t count) {
      const size_t padded = static_cast<size_t>((count + lanes - 1) / lanes * lanes);
      for (int axis = 0; axis < 3; ++axis) {
        low[axis].assign(padded, std::numeric_limits<scalar_t>::infinity());
        high[axis].assign(padded, -std::numeric_limits<scalar_t>::infinity());
      }
      bound.resize(padded);
      farthest.resize(static_cast<size_t>(count));
    }
    void include(int64_t box, const Point& lowest, const Point& highest) {
      for (int axis = 0; axis < 3; ++axis) {
        low[axis][box] = std::min(low[axis][box], lowest[axis]);
        high[axis][box] = std::max(high[axis][box], highest[axis]);
      }
    }
    Lanes gap(int axis, int64_t box, scalar_t point) const {
      const Lanes below = load(low[axis].data() + box) - point, above = point - load(high[axis].data() + box);
      const Lanes outside = below > above ? below : above, zero = {};
      return outside > zero ? outside : zero;
    }
    void compute_bounds(int64_t begin, int64_t end, const Point& point) {
      for (int64_t box = begin; box < end; box += lanes) {
        store(bound.data() + box, squared_length(gap(0, box, point[0]), gap(1, box, point[1]), gap(2, box, point[2])));
      }
    }
    // "<=", not "<": the bucket of the chosen row must be visited even when its largest distance is 0.
    bool may_change(int64_t box) const { return bound[box] <= farthest[box].dist2; }
  };

  // Splits in halves along the widest axis, at a multiple of the bucket size, so that all buckets but the last are
  // full.
  static void split(Entry* begin, Entry* end) {
    if (end - begin <= bucket_rows) {
      // Sorted by row, so that the first of equal distances in a bucket is the lowest row.
      std::sort(begin, end, [](const Entry& a, const Entry& b) { return a.row < b.row; });
      return;
    }
    const int axis = widest_axis(begin, end);
    const int64_t buckets = (end - begin + bucket_rows - 1) / bucket_rows;
    Entry* middle = begin + (buckets + 1) / 2 * bucket_rows;
    std::nth_element(begin, middle, end, [axis](const Entry& a, const Entry& b) { return a.at[axis] < b.at[axis]; });
    split(begin, middle);
    split(middle, end);
  }

  static int widest_axis(const Entry* begin, const Entry* end) {
    Point low = begin->at, high = begin->at;
    for (const Entry* entry = begin; entry != end; ++entry) {
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], entry->at[axis]);
        high[axis] = std::max(high[axis], entry->at[axis]);
      }
    }
    const Point extent = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    return static_cast<int>(std::max_element(extent.begin(), extent.end()) - extent.begin());
  }

  void fill(const std::vector<Entry>& entries) {
    const int64_t count = static_cast<int64_t>(entries.size());
    const int64_t bucket_count = (count + bucket_rows - 1) / bucket_rows;
    const size_t slots = static_cast<size_t>(bucket_count * bucket_rows);
    for (auto& coordinate : coordinates_) coordinate.assign(slots, 0);
    dist2_.assign(slots, -1);  // slots beyond the last row count as chosen
    std::fill(dist2_.begin(), dist2_.begin() + count, std::numeric_limits<scalar_t>::infinity());
    rows_.assign(slots, -1);
    buckets_.resize(bucket_count);
    groups_.resize((bucket_count + group_buckets - 1) / group_buckets);
    for (int64_t slot = 0; slot < count; ++slot) {
      const Entry& entry = entries[slot];
      for (int axis = 0; axis < 3; ++axis) coordinates_[axis][slot] = entry.at[axis];
      rows_[slot] = entry.row;
      buckets_.include(slot / bucket_rows, entry.at, entry.at);
      groups_.include(slot / bucket_rows / group_buckets, entry.at, entry.at);
    }
    for (Farthest& farthest : buckets_.farthest) farthest.dist2 = std::numeric_limits<scalar_t>::infinity();
    for (Farthest& farthest : groups_.farthest) farthest.dist2 = std::numeric_limits<scalar_t>::infinity();
  }

  void choose(int64_t slot) {
    const Point point = {coordinates_[0][slot], coordinates_[1][slot], coordinates_[2][slot]};
    dist2_[slot] = -1;
    farthest_ = Farthest{};
    const int64_t group_count = static_cast<int64_t>(groups_.farthest.size());
    groups_.compute_bounds(0, group_count, point);
    for (int64_t group = 0; group < group_count; ++group) {
      if (groups_.may_change(group)) update_group(group, point);
      if (farthest_ < groups_.farthest[group]) farthest_ = groups_.farthest[group];
    }
  }

  void update_group(int64_t group, const Point& point) {
    const int64_t begin = group * group_buckets;
    const int64_t end = std::min(begin + group_buckets, static_cast<int64_t>(buckets_.farthest.size()));
    buckets_.compute_bounds(begin, end, point);
    Farthest farthest;
    for (int64_t bucket = begin; bucket < end; ++bucket) {
      if (buckets_.may_change(bucket)) update_bucket(bucket, point);
      if (farthest < buckets_.farthest[bucket]) farthest = buckets_.farthest[bucket];
    }
    groups_.farthest[group] = farthest;
  }

  void update_bucket(int64_t bucket, const Point& point) {
    const int64_t begin = bucket * bucket_rows;
    Lanes largest = Lanes{} - 1;
    IndexLanes where = {}, current = {};
    for (int64_t lane = 0; lane < lanes; ++lane) current[lane] = static_cast<Index>(lane);
    for (int64_t slot = begin; slot < begin + bucket_rows; slot += lanes) {
      const Lanes to_point =
          squared_length(load(coordinates_[0].data() + slot) - point[0], load(coordinates_[1].data() + slot) - point[1],
                         load(coordinates_[2].data() + slot) - point[2]);
      const Lanes before = load(dist2_.data() + slot);
      const Lanes now = to_point < before ? to_point : before;
      store(dist2_.data() + slot, now);
      where = now > largest ? current : where;
      largest = now > largest ? now : largest;
      current += static_cast<Index>(lanes);
    }
    int64_t best = 0;
    for (int64_t lane = 1; lane < lanes; ++lane) {
      const bool better =
          largest[lane] > largest[best] || (largest[lane] == largest[best] && where[lane] < where[best]);
      best = better ? lane : best;
    }
    const int64_t slot = begin + where[best];
    buckets_.farthest[bucket] = {largest[best], rows_[slot], slot};
  }

  std::array<std::vector<scalar_t>, 3> coordinates_;  // by slot: bucket after bucket
  std::vector<scalar_t> dist2_;                       // to the chosen rows; -1 once chosen
  std::vector<int32_t> rows_;
  Boxes buckets_, groups_;
  Farthest farthest_;
};

}  // namespace geosft
