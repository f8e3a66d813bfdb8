// SPDX-License-Identifier: Apache-2.0
// Computes gated_edge_sum on a GPU, one channel of a row per thread, and in the second grid of the backward pass one
// channel of a column. Indices out of range are clamped: the result is then wrong, but no access is out of bounds.
//
// Bound: memory, four numbers per edge and channel forward, seven backward.
#pragma once

#include "models/ops/cuda/edge_sum_kernel.cuh"
#include "models/ops/cuda/tile_math.h"

namespace geosft::cuda {

// query, out and total [rows, width]; key and value [columns, width]; edge and gate [edges, width].
template <typename T>
struct GatedSumCall {
  const T *query, *key, *value, *edge;
  const int64_t *rowptr, *col;
  int64_t rows, columns, edges, width;
  T eps;
  T *out, *gate, *total;
};

// As above; share [rows, width] is out_grad / total, which the first grid writes and the second reads.
template <typename T>
struct GatedSumGradientCall {
  const T *out_grad, *gate_grad, *out, *gate, *total, *value;
  const int64_t *rowptr, *col, *row, *colptr, *order;
  int64_t rows, columns, edges, width;
  T *share, *query_grad, *key_grad, *value_grad, *edge_grad;
};

template <typename T>
GEOSFT_DEVICE T sigmoid_of(T x) {
  const T small = exp_below_zero(x < T(0) ? x : -x);
  const T result = (x < T(0) ? small : T(1)) / (T(1) + small);
  return x == x ? result : x;
}

template <typename T>
class GatedSumTile {
 public:
  static constexpr int kBlockThreads = kEdgeThreads;
  struct Tiles {};
  using Arguments = GatedSumCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.rows * in.width) return;
      const int64_t channel = at % in.width;
      const RowRange range = edges_of(in.rowptr, at / in.width, in.edges);
      const T query = in.query[at];
      T sum = 0, total = in.eps;
      for (int64_t e = range.begin; e < range.end; ++e) {
        const int64_t from = clamped(in.col[e], 0, in.columns - 1) * in.width + channel;
        const T gate = query + in.key[from] + in.edge[e * in.width + channel];
        in.gate[e * in.width + channel] = gate;
        const T share = sigmoid_of(gate);
        sum += share * in.value[from];
        total += share;
      }
      in.out[at] = sum / total;
      in.total[at] = total;
    });
  }
};

template <typename T>
class GatedSumRowTile {
 public:
  static constexpr int kBlockThreads = kEdgeThreads;
  struct Tiles {};
  using Arguments = GatedSumGradientCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.rows * in.width) return;
      const int64_t channel = at % in.width;
      const RowRange range = edges_of(in.rowptr, at / in.width, in.edges);
      const T share = in.out_grad[at] / in.total[at], out = in.out[at];
      T sum = 0;
      for (int64_t e = range.begin; e < range.end; ++e) {
        const int64_t edge = e * in.width + channel;
        const T s = sigmoid_of(in.gate[edge]);
        const T value = in.value[clamped(in.col[e], 0, in.columns - 1) * in.width + channel];
        const T slope = in.gate_grad[edge] + share * (value - out) * s * (T(1) - s);
        in.edge_grad[edge] = slope;
        sum += slope;
      }
      in.share[at] = share;
      in.query_grad[at] = sum;
    });
  }
};

template <typename T>
class GatedSumColumnTile {
 public:
  static constexpr int kBlockThreads = kEdgeThreads;
  struct Tiles {};
  using Arguments = GatedSumGradientCall<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= in.columns * in.width) return;
      const int64_t channel = at % in.width;
      const RowRange range = edges_of(in.colptr, at / in.width, in.edges);
      T key = 0, value = 0;
      for (int64_t n = range.begin; n < range.end; ++n) {
        const int64_t e = clamped(in.order[n], 0, in.edges - 1), edge = e * in.width + channel;
        key += in.edge_grad[edge];
        value += in.share[clamped(in.row[e], 0, in.rows - 1) * in.width + channel] * sigmoid_of(in.gate[edge]);
      }
      in.key_grad[at] = key;
      in.value_grad[at] = value;
    });
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const GatedSumCall<T>& in, Run&& run) {
  run.template grid<GatedSumTile<T>>((in.rows * in.width + kEdgeThreads - 1) / kEdgeThreads, 1, in);
}
template <typename T, class Run>
void run_grids(const GatedSumGradientCall<T>& in, Run&& run) {
  run.template grid<GatedSumRowTile<T>>((in.rows * in.width + kEdgeThreads - 1) / kEdgeThreads, 1, in);
  run.template grid<GatedSumColumnTile<T>>((in.columns * in.width + kEdgeThreads - 1) / kEdgeThreads, 1, in);
}

}  // namespace geosft::cuda
