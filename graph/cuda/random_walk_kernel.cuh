// SPDX-License-Identifier: Apache-2.0
// Computes random-walk encodings on a GPU, 32 neighbouring nodes at a time, one lane each: u_0 = e_s and u_t = RW
// u_{t-1}, whose entry s is the diagonal of RW^t. A block keeps u of its nodes in its own slice of global memory,
// [rows, 32], and processes only the rows of their stretch. No edge leaves a stretch; in a batch of many graphs a
// stretch is rarely longer than one graph. Each sum is computed by one thread, in the order of the edges.
//
// The host does not know the lengths of the stretches, so two kernels use the same memory in turn: first many blocks
// with a small slice each for short stretches, then fewer, larger blocks with memory for all nodes, for the stretches
// that do not fit in a slice.
//
// Bound by one read of 32 values per 32 nodes, step and edge of their stretch, mostly from the caches. A batch of 128
// molecules of 23 nodes and 50 edges takes microseconds; one graph of N nodes and E edges takes N E steps / 32 such
// reads.
#pragma once

#include <cmath>

#include "geometry/cuda/element_kernel.cuh"
#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

inline constexpr int kWalkLanes = 32;

// `blocks` blocks for stretches of at most `slice` rows, and `long_blocks` blocks with memory for all nodes for longer
// stretches (0 if no stretch can be longer).
struct WalkPlan {
  int64_t blocks, slice, long_blocks;

  int64_t numbers(int64_t nodes) const {
    const int64_t few = blocks * slice, all = long_blocks * nodes;
    return 2 * kWalkLanes * (few > all ? few : all);
  }
};

// CSR of the graph: rowptr [nodes + 1], col and weight [edges] (null: all 1). inverse [nodes]: 1 / D_i, 0 if D_i = 0,
// NaN if an edge of node i has a negative weight. The stretch of node i is rows begin[i] … end[i] - 1. `memory` has the
// size of the plan; out [nodes, steps].
template <typename T>
struct RandomWalks {
  const int64_t* rowptr;
  const int64_t* col;
  const T* weight;
  int64_t nodes, edges, steps;
  WalkPlan plan;
  T* inverse;
  const int64_t* begin;
  const int64_t* end;
  T* memory;
  T* out;
};

template <typename T>
GEOSFT_DEVICE RowRange edges_of(const RandomWalks<T>& in, int64_t node) {
  const int64_t begin = clamped(in.rowptr[node], 0, in.edges);
  return {begin, clamped(in.rowptr[node + 1], begin, in.edges)};
}

// Computes 1 / D_i of each node.
template <typename T>
struct WalkDegrees {
  RandomWalks<T> in;

  GEOSFT_HOST_DEVICE int64_t elements() const { return in.nodes; }
  GEOSFT_DEVICE void compute(int64_t node) const {
    const RowRange edges = edges_of(in, node);
    T degree = 0;
    bool negative = false;
    for (int64_t e = edges.begin; e < edges.end; ++e) {
      const T weight = in.weight ? in.weight[e] : T(1);
      negative = negative || weight < 0;
      degree += weight;
    }
    in.inverse[node] = negative ? T(NAN) : degree == 0 ? T(0) : T(1) / degree;
  }
};

// Returns the rows visited by the walks of the 32 nodes starting at `first`.
template <typename T>
GEOSFT_DEVICE RowRange walked_rows(const RandomWalks<T>& in, int64_t first) {
  if (first >= in.nodes) return {0, 0};
  const int64_t last = first + kWalkLanes < in.nodes ? first + kWalkLanes - 1 : in.nodes - 1;
  const int64_t begin = clamped(in.begin[first], 0, in.nodes);
  return {begin, clamped(in.end[last], begin, in.nodes)};
}

// Computes the walks of 32 nodes with a block of kThreads threads.
template <typename T, int kThreads>
class WalkSteps {
 public:
  static constexpr int kRowsAtOnce = kThreads / kWalkLanes;
  using Arguments = RandomWalks<T>;

  // `memory` [2, size, 32] must hold at least `rows`.
  template <class Block>
  GEOSFT_DEVICE static void walk(Block& block, const Arguments& in, int64_t first, const RowRange& rows, T* memory,
                                 int64_t size) {
    T* from = memory;
    T* to = from + size * kWalkLanes;
    block.each([&](int thread) {
      const int lane = thread % kWalkLanes;
      for (int64_t row = rows.begin + thread / kWalkLanes; row < rows.end; row += kRowsAtOnce) {
        from[(row - rows.begin) * kWalkLanes + lane] = row == first + lane ? T(1) : T(0);
      }
    });
    for (int64_t step = 0; step < in.steps; ++step) {
      block.each([&](int thread) { advance(in, first, rows, step, from, to, thread); });
      T* const next = to;
      to = from;
      from = next;
    }
  }

 private:
  GEOSFT_DEVICE static void advance(const Arguments& in, int64_t first, const RowRange& rows, int64_t step,
                                    const T* from, T* to, int thread) {
    const int lane = thread % kWalkLanes;
    for (int64_t row = rows.begin + thread / kWalkLanes; row < rows.end; row += kRowsAtOnce) {
      const RowRange edges = edges_of(in, row);
      T sum = 0;
      for (int64_t e = edges.begin; e < edges.end; ++e) {
        const int64_t node = in.col[e];
        if (node < rows.begin || node >= rows.end) continue;
        const T weight = in.weight ? in.weight[e] * in.inverse[node] : in.inverse[node];
        sum += weight * from[(node - rows.begin) * kWalkLanes + lane];
      }
      to[(row - rows.begin) * kWalkLanes + lane] = sum;
      if (row == first + lane) in.out[row * in.steps + step] = sum;
    }
  }
};

// Computes the walks in short stretches.
template <typename T>
struct WalkKernel : UnsharedKernel<RandomWalks<T>, 256> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const RandomWalks<T>& in) {
    T* const memory = in.memory + block.x() * 2 * in.plan.slice * kWalkLanes;
    for (int64_t first = block.x() * kWalkLanes; first < in.nodes; first += in.plan.blocks * kWalkLanes) {
      const RowRange rows = walked_rows(in, first);
      if (rows.end - rows.begin > in.plan.slice) continue;
      WalkSteps<T, WalkKernel::kBlockThreads>::walk(block, in, first, rows, memory, in.plan.slice);
    }
  }
};

// Computes the walks in long stretches. Since most groups of nodes may have none, a block checks many groups at once.
template <typename T>
class LongWalkKernel {
 public:
  static constexpr int kBlockThreads = 1024;
  struct Tiles {
    int32_t found;
    int32_t is_long[kBlockThreads];
  };
  using Arguments = RandomWalks<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    // Groups are interleaved, so that the groups of a large graph are distributed over all blocks.
    const int64_t step = in.plan.long_blocks * kWalkLanes;
    Tiles& tiles = block.template shared<Tiles>();
    for (int64_t begin = block.x() * kWalkLanes; begin < in.nodes; begin += step * kBlockThreads) {
      block.each([&](int thread) {
        if (thread == 0) tiles.found = 0;
      });
      block.each([&](int thread) {
        const RowRange rows = walked_rows(in, begin + thread * step);
        tiles.is_long[thread] = rows.end - rows.begin > in.plan.slice ? 1 : 0;
        if (tiles.is_long[thread]) block.add(tiles.found, 1);
      });
      const int32_t found = tiles.found;
      for (int group = 0; found > 0 && group < kBlockThreads; ++group) {
        if (tiles.is_long[group]) walk(block, in, begin + group * step);
      }
      block.each([](int) {});  // all threads have read `found` before it is cleared
    }
  }

 private:
  template <class Block>
  GEOSFT_DEVICE static void walk(Block& block, const Arguments& in, int64_t first) {
    T* const memory = in.memory + block.x() * 2 * in.nodes * kWalkLanes;
    WalkSteps<T, kBlockThreads>::walk(block, in, first, walked_rows(in, first), memory, in.nodes);
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const RandomWalks<T>& in, Run&& run) {
  element_grid(WalkDegrees<T>{in}, run);
  run.template grid<WalkKernel<T>>(in.plan.blocks, 1, in);
  run.template grid<LongWalkKernel<T>>(in.plan.long_blocks, 1, in);
}

}  // namespace geosft::cuda
