// SPDX-License-Identifier: Apache-2.0
// Finds k nearest neighbours on a GPU, one query per thread. A thread keeps its k nearest points so far and loops over
// tiles of 128 points of its item in shared memory. For large clouds, points and queries are sorted along a
// space-filling curve, so that a tile is a small region. A block starts at the tile nearest to its queries along the
// curve and proceeds outwards. It skips a tile whose box is farther from each of its queries than the farthest
// neighbour so far. The result does not depend on which tiles are skipped.
//
// Bound by issue slots, 10 per pair of query and point: 100,000 x 100,000 pairs take 3.1 ms on 132 multiprocessors at
// 1.98 GHz. Along the curve a block examines the boxes of all tiles, 40 slots each per query, and searches a few tens
// of them.
#pragma once

#include <cmath>

#include "geometry/cuda/element_kernel.cuh"
#include "geometry/cuda/packed_tiles.h"
#include "geometry/cuda/squared_length.h"

namespace geosft::cuda {

inline constexpr int kKnnThreads = 128;

// points [N, 3] and queries [Q, 3], packed, in search order: row i is row point_order[i] of the batch, query i is query
// query_order[i] (null: the order of the batch). box [tiles, 6] holds the minimum and the maximum coordinates of each
// tile of points (null: every tile is searched). index and dist2 [Q, k] are in the order of the batch.
template <typename T>
struct KnnSearch {
  const T* points;
  const T* queries;
  const int64_t* point_order;
  const int64_t* query_order;
  PackedRows of_points, of_queries;
  int64_t k;
  T* box;
  int64_t* index;
  T* dist2;
};

// Orders by distance, then by row. A NaN distance never comes before another.
template <typename T>
GEOSFT_DEVICE bool comes_before(T distance, int64_t row, T than_distance, int64_t than_row) {
  return distance < than_distance || (distance == than_distance && row < than_row);
}

// Keeps the k <= Capacity nearest points of a query, sorted, in registers. The Capacity - k unused entries come first
// and are never replaced, so the last entry is the farthest neighbour for every k.
template <typename T, int Capacity>
class KeptNeighbours {
 public:
  GEOSFT_DEVICE void begin(const KnnSearch<T>& in, int64_t /*query*/) {
    GEOSFT_UNROLL
    for (int i = 0; i < Capacity; ++i) {
      distance_[i] = i < Capacity - in.k ? T(-1) : T(INFINITY);
      row_[i] = -1;
    }
  }
  GEOSFT_DEVICE T farthest() const { return distance_[Capacity - 1]; }

  GEOSFT_DEVICE void add(const KnnSearch<T>&, T distance, int64_t row) {
    if (!comes_before(distance, row, distance_[Capacity - 1], row_[Capacity - 1])) return;
    GEOSFT_UNROLL
    for (int i = Capacity - 1; i > 0; --i) {
      if (comes_before(distance, row, distance_[i - 1], row_[i - 1])) {
        distance_[i] = distance_[i - 1];
        row_[i] = row_[i - 1];
      } else if (comes_before(distance, row, distance_[i], row_[i])) {
        distance_[i] = distance;
        row_[i] = row;
      }
    }
    if (comes_before(distance, row, distance_[0], row_[0])) {
      distance_[0] = distance;
      row_[0] = row;
    }
  }

  GEOSFT_DEVICE void end(const KnnSearch<T>& in, int64_t query) const {
    GEOSFT_UNROLL
    for (int i = 0; i < Capacity; ++i) {
      const int64_t place = i - (Capacity - in.k);
      if (place < 0) continue;
      in.index[query * in.k + place] = row_[i];
      in.dist2[query * in.k + place] = distance_[i];
    }
  }

 private:
  T distance_[Capacity];
  int64_t row_[Capacity];
};

// Keeps more neighbours than fit in registers, sorted in the output arrays in global memory.
template <typename T>
class StoredNeighbours {
 public:
  GEOSFT_DEVICE void begin(const KnnSearch<T>& in, int64_t query) {
    first_ = query * in.k;
    for (int64_t i = 0; i < in.k; ++i) {
      in.index[first_ + i] = -1;
      in.dist2[first_ + i] = T(INFINITY);
    }
    farthest_ = T(INFINITY);
  }
  GEOSFT_DEVICE T farthest() const { return farthest_; }

  GEOSFT_DEVICE void add(const KnnSearch<T>& in, T distance, int64_t row) {
    int64_t place = first_ + in.k - 1;
    if (!comes_before(distance, row, in.dist2[place], in.index[place])) return;
    for (; place > first_ && comes_before(distance, row, in.dist2[place - 1], in.index[place - 1]); --place) {
      in.dist2[place] = in.dist2[place - 1];
      in.index[place] = in.index[place - 1];
    }
    in.dist2[place] = distance;
    in.index[place] = row;
    farthest_ = in.dist2[first_ + in.k - 1];
  }
  GEOSFT_DEVICE void end(const KnnSearch<T>&, int64_t /*query*/) const {}

 private:
  int64_t first_;
  T farthest_;
};

// Computes the bounding box of each tile of points.
template <typename T>
struct KnnBoxKernel : UnsharedKernel<KnnSearch<T>, 32> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const KnnSearch<T>& in) {
    const PackedTile rows = packed_tile(in.of_points, kKnnThreads, block.x());
    if (rows.begin >= rows.end) return;
    block.each([&](int thread) {
      if (thread >= 6) return;
      const int axis = thread % 3;
      T bound = in.points[rows.begin * 3 + axis];
      for (int64_t row = rows.begin + 1; row < rows.end; ++row) {
        const T at = in.points[row * 3 + axis];
        if (thread < 3 ? at < bound : at > bound) bound = at;
      }
      in.box[block.x() * 6 + thread] = bound;
    });
  }
};

template <typename T, class Neighbours>
class KnnKernel {
 public:
  static constexpr int kBlockThreads = kKnnThreads;
  static constexpr int kGroups = 4;  // groups of threads in a vote
  struct alignas(16) Point {
    T x, y, z, unused;
  };
  struct Tiles {
    Point point[kBlockThreads];
    bool may_be_nearer[kBlockThreads], of_group[kGroups];
  };
  using Arguments = KnnSearch<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const PackedTile queries = packed_tile(in.of_queries, kBlockThreads, block.x());
    if (queries.begin >= queries.end) return;
    const RowRange points = item_rows(in.of_points, queries.item),
                   item_queries = item_rows(in.of_queries, queries.item);
    const int64_t tiles_there = (points.end - points.begin + kBlockThreads - 1) / kBlockThreads;
    const int64_t first_box = first_block(in.of_points, kBlockThreads, queries.item);
    const int64_t nearest = (queries.begin - item_queries.begin) / kBlockThreads * tiles_there /
                            ((item_queries.end - item_queries.begin + kBlockThreads - 1) / kBlockThreads);
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    block.each([&](int thread) { begin(in, queries, thread, state[thread]); });
    for (int64_t i = 0; i < tiles_there; ++i) {
      const int64_t at = outwards(nearest, i, tiles_there);
      if (in.box && !may_hold_nearest(block, tiles, state, in.box + (first_box + at) * 6)) continue;
      const int64_t first = points.begin + at * kBlockThreads;
      const int count = points.end - first < kBlockThreads ? static_cast<int>(points.end - first) : kBlockThreads;
      block.each([&](int thread) {
        if (thread >= count) return;
        const T* p = in.points + (first + thread) * 3;
        tiles.point[thread] = {p[0], p[1], p[2], T(0)};
      });
      block.each([&](int thread) { search(in, tiles, first, count, state[thread]); });
    }
    block.each([&](int thread) {
      if (state[thread].query >= 0) state[thread].nearest.end(in, state[thread].query);
    });
  }

 private:
  struct State {
    T x, y, z;
    int64_t query;  // row in the batch; -1: no query
    Neighbours nearest;
  };

  // Returns element i of start + (0, 1, -1, 2, -2, …) modulo `count`, which visits every number below `count` once.
  GEOSFT_DEVICE static int64_t outwards(int64_t start, int64_t i, int64_t count) {
    const int64_t step = i % 2 ? (i + 1) / 2 : -(i / 2);
    const int64_t at = start + step;
    return at < 0 ? at + count : (at >= count ? at - count : at);
  }

  GEOSFT_DEVICE static void begin(const Arguments& in, const PackedTile& queries, int thread, State& state) {
    const int64_t row = queries.begin + thread;
    state.query = -1;
    if (row >= queries.end) return;
    const T* q = in.queries + row * 3;
    state.x = q[0];
    state.y = q[1];
    state.z = q[2];
    state.query = in.query_order ? in.query_order[row] : row;
    state.nearest.begin(in, state.query);
  }

  // Returns the distance along an axis to an interval, rounded like the distance to a point inside, so it is never
  // larger.
  GEOSFT_DEVICE static T beyond(T at, T low, T high) { return at < low ? low - at : (at > high ? at - high : T(0)); }

  // Returns whether a point in the box may be among the nearest of any query of the block; equal in all threads.
  template <class Block, class States>
  GEOSFT_DEVICE static bool may_hold_nearest(Block& block, Tiles& tiles, States& state, const T* box) {
    block.each([&](int thread) {
      State& mine = state[thread];
      tiles.may_be_nearer[thread] =
          mine.query >= 0 && squared_length(beyond(mine.x, box[0], box[3]), beyond(mine.y, box[1], box[4]),
                                            beyond(mine.z, box[2], box[5])) <= mine.nearest.farthest();
    });
    block.each([&](int thread) {
      if (thread >= kGroups) return;
      bool any = false;
      for (int i = thread; i < kBlockThreads; i += kGroups) any = any || tiles.may_be_nearer[i];
      tiles.of_group[thread] = any;
    });
    bool any = false;
    for (int i = 0; i < kGroups; ++i) any = any || tiles.of_group[i];
    return any;
  }

  GEOSFT_DEVICE static void search(const Arguments& in, const Tiles& tiles, int64_t first, int count, State& state) {
    if (state.query < 0) return;
    for (int i = 0; i < count; ++i) {
      const Point p = tiles.point[i];
      const T distance = squared_length(state.x - p.x, state.y - p.y, state.z - p.z);
      if (distance <= state.nearest.farthest()) {
        state.nearest.add(in, distance, in.point_order ? in.point_order[first + i] : first + i);
      }
    }
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const KnnSearch<T>& in, Run&& run) {
  const int64_t blocks = tile_blocks(in.of_queries.rows, in.of_queries.items, kKnnThreads);
  if (in.box)
    run.template grid<KnnBoxKernel<T>>(tile_blocks(in.of_points.rows, in.of_points.items, kKnnThreads), 1, in);
  if (in.k <= 8) {
    run.template grid<KnnKernel<T, KeptNeighbours<T, 8>>>(blocks, 1, in);
  } else if (in.k <= 16) {
    run.template grid<KnnKernel<T, KeptNeighbours<T, 16>>>(blocks, 1, in);
  } else if (in.k <= 32) {
    run.template grid<KnnKernel<T, KeptNeighbours<T, 32>>>(blocks, 1, in);
  } else {
    run.template grid<KnnKernel<T, StoredNeighbours<T>>>(blocks, 1, in);
  }
}

}  // namespace geosft::cuda
