// SPDX-License-Identifier: Apache-2.0
// Computes edge_sum on a GPU, one element of the result per thread: the threads of a row read whole rows of x. Indices
// out of range are clamped: the result is then wrong, but no access is out of bounds.
//
// Bound: memory, d numbers per edge (and d more of edge features) and per row.
#pragma once

#include "geometry/cuda/block.h"
#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

// The edges of one row, or of one column, among `edges` edges.
GEOSFT_DEVICE RowRange edges_of(const int64_t* ptr, int64_t row, int64_t edges) {
  const int64_t begin = clamped(ptr[row], 0, edges);
  return {begin, clamped(ptr[row + 1], begin, edges)};
}

// x [columns, width], edge [edges, width] or null, scale [edges] or null, out [rows, width].
template <typename T>
struct EdgeSumCall {
  const T* x;
  const T* edge;
  const T* scale;
  const int64_t* rowptr;
  const int64_t* col;
  int64_t rows, columns, edges, width;
  bool relu;
  T* out;
};

// grad [rows, width], x_grad [columns, width], edge_grad [edges, width] or null; `in` as in the forward pass, whose
// rowptr, col and out are not read.
template <typename T>
struct EdgeSumGradientCall {
  EdgeSumCall<T> in;
  const T* grad;
  const int64_t* row;
  const int64_t* colptr;
  const int64_t* order;
  T* x_grad;
  T* edge_grad;
};

inline constexpr int kEdgeThreads = 256;

template <typename T>
class EdgeSumTile {
 public:
  static constexpr int kBlockThreads = kEdgeThreads;
  struct Tiles {};
  using Arguments = EdgeSumCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.rows * in.width) return;
      const int64_t channel = at % in.width;
      const RowRange range = edges_of(in.rowptr, at / in.width, in.edges);
      T sum = 0;
      for (int64_t e = range.begin; e < range.end; ++e) {
        T message = in.x[clamped(in.col[e], 0, in.columns - 1) * in.width + channel];
        if (in.edge) message += in.edge[e * in.width + channel];
        if (in.relu && message < T(0)) message = T(0);
        sum += in.scale ? in.scale[e] * message : message;
      }
      in.out[at] = sum;
    });
  }
};

template <typename T>
class EdgeSumGradientTile {
 public:
  static constexpr int kBlockThreads = kEdgeThreads;
  struct Tiles {};
  using Arguments = EdgeSumGradientCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& call) {
    const EdgeSumCall<T>& in = call.in;
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.columns * in.width) return;
      const int64_t channel = at % in.width;
      const RowRange range = edges_of(call.colptr, at / in.width, in.edges);
      T sum = 0;
      for (int64_t n = range.begin; n < range.end; ++n) {
        const int64_t e = clamped(call.order[n], 0, in.edges - 1);
        T slope = call.grad[clamped(call.row[e], 0, in.rows - 1) * in.width + channel];
        if (in.scale) slope *= in.scale[e];
        if (in.relu) {
          const T message = in.edge ? in.x[at] + in.edge[e * in.width + channel] : in.x[at];
          if (!(message > T(0))) slope = T(0);
        }
        if (call.edge_grad) call.edge_grad[e * in.width + channel] = slope;
        sum += slope;
      }
      call.x_grad[at] = sum;
    });
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const EdgeSumCall<T>& in, Run&& run) {
  run.template grid<EdgeSumTile<T>>((in.rows * in.width + kEdgeThreads - 1) / kEdgeThreads, 1, in);
}
template <typename T, class Run>
void run_grids(const EdgeSumGradientCall<T>& in, Run&& run) {
  run.template grid<EdgeSumGradientTile<T>>((in.in.columns * in.in.width + kEdgeThreads - 1) / kEdgeThreads, 1, in);
}

}  // namespace geosft::cuda
