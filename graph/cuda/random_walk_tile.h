// SPDX-License-Identifier: Apache-2.0
// Random-walk encodings on a GPU. 32 neighbouring nodes at a time, a lane of the threads each: u_0 = e_s and u_t = RW
// u_{t-1}, of which entry s is the diagonal of RW^t. A block keeps u of its nodes in memory of its own, [rows, 32], and
// goes through the rows of their stretch alone: no edge leads out of a stretch, which in a batch of many graphs is
// rarely longer than one of them. Every sum is one thread's, in the order of the edges.
//
// Bound: for each 32 nodes, step and edge of their stretch one read of 32 numbers, mostly from the caches: a batch of
// 128 molecules of 23 nodes and 50 edges takes microseconds; one graph of N nodes and E edges N E steps / 32 such
// reads.
#pragma once

#include "geometry/cuda/block.h"
#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

inline constexpr int kWalkLanes = 32;

// CSR of the graph: rowptr [nodes + 1], col and weight [edges] (null: 1 each). inverse [nodes]: 1 / D_i, 0 where D_i
// is. Stretches: node i belongs to rows begin[i] … end[i] - 1. memory [blocks, 2, nodes, 32]; out [nodes, steps].
template <typename T>
struct RandomWalks {
  const int64_t* rowptr;
  const int64_t* col;
  const T* weight;
  int64_t nodes, edges, steps, blocks;
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

// 1 / D_i of every node, one a thread.
template <typename T>
class WalkDegreeTile {
 public:
  static constexpr int kBlockThreads = 256;
  struct Tiles {};
  using Arguments = RandomWalks<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t node = block.x() * kBlockThreads + thread;
      if (node >= in.nodes) return;
      const RowRange edges = edges_of(in, node);
      T degree = 0;
      for (int64_t e = edges.begin; e < edges.end; ++e) degree += in.weight ? in.weight[e] : T(1);
      in.inverse[node] = degree == 0 ? T(0) : T(1) / degree;
    });
  }
};

template <typename T>
class WalkTile {
 public:
  static constexpr int kBlockThreads = 256;
  static constexpr int kRowsAtOnce = kBlockThreads / kWalkLanes;
  struct Tiles {};
  using Arguments = RandomWalks<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    for (int64_t first = block.x() * kWalkLanes; first < in.nodes; first += in.blocks * kWalkLanes) {
      const int64_t last = first + kWalkLanes < in.nodes ? first + kWalkLanes - 1 : in.nodes - 1;
      const int64_t begin = clamped(in.begin[first], 0, in.nodes);
      walk(block, in, first, {begin, clamped(in.end[last], begin, in.nodes)});
    }
  }

 private:
  template <class Block>
  GEOSFT_DEVICE static void walk(Block& block, const Arguments& in, int64_t first, const RowRange& rows) {
    const int64_t size = in.nodes * kWalkLanes;
    T* from = in.memory + block.x() * 2 * size;
    T* to = from + size;
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

// The grids of a call, on a GPU or emulated.
template <typename T, class Run>
void walk_grids(const RandomWalks<T>& in, Run&& run) {
  constexpr int64_t kNodes = WalkDegreeTile<T>::kBlockThreads;
  run.template grid<WalkDegreeTile<T>>((in.nodes + kNodes - 1) / kNodes, 1, in);
  run.template grid<WalkTile<T>>(in.blocks, 1, in);
}

}  // namespace geosft::cuda
