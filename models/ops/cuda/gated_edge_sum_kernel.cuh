// SPDX-License-Identifier: Apache-2.0
// Computes gated_edge_sum on a GPU: one pass over the edges of the rows; backward another over those of the rows, then
// one over those of the columns.
//
// Bound: memory, four numbers per edge and channel forward, seven backward.
#pragma once

#include "models/ops/cuda/edge_pass_kernel.cuh"
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
struct GatedSumPass {
  using Arguments = GatedSumCall<T>;
  T query, sum = 0, total;

  GEOSFT_HOST_DEVICE static EdgeRows rows(const Arguments& in) { return {in.rowptr, in.rows, in.edges, in.width}; }
  GEOSFT_DEVICE GatedSumPass(const Arguments& in, int64_t at) : query(in.query[at]), total(in.eps) {}
  GEOSFT_DEVICE void add(const Arguments& in, int64_t e, int64_t channel) {
    const int64_t from = clamped(in.col[e], 0, in.columns - 1) * in.width + channel;
    const T gate = query + in.key[from] + in.edge[e * in.width + channel];
    in.gate[e * in.width + channel] = gate;
    const T share = sigmoid_of(gate);
    sum += share * in.value[from];
    total += share;
  }
  GEOSFT_DEVICE void end(const Arguments& in, int64_t at) const {
    in.out[at] = sum / total;
    in.total[at] = total;
  }
};

template <typename T>
struct GatedSumRowPass {
  using Arguments = GatedSumGradientCall<T>;
  T share, out, sum = 0;

  GEOSFT_HOST_DEVICE static EdgeRows rows(const Arguments& in) { return {in.rowptr, in.rows, in.edges, in.width}; }
  GEOSFT_DEVICE GatedSumRowPass(const Arguments& in, int64_t at)
      : share(in.out_grad[at] / in.total[at]), out(in.out[at]) {}
  GEOSFT_DEVICE void add(const Arguments& in, int64_t e, int64_t channel) {
    const int64_t edge = e * in.width + channel;
    const T s = sigmoid_of(in.gate[edge]);
    const T value = in.value[clamped(in.col[e], 0, in.columns - 1) * in.width + channel];
    const T slope = in.gate_grad[edge] + share * (value - out) * s * (T(1) - s);
    in.edge_grad[edge] = slope;
    sum += slope;
  }
  GEOSFT_DEVICE void end(const Arguments& in, int64_t at) const {
    in.share[at] = share;
    in.query_grad[at] = sum;
  }
};

template <typename T>
struct GatedSumColumnPass {
  using Arguments = GatedSumGradientCall<T>;
  T key = 0, value = 0;

  GEOSFT_HOST_DEVICE static EdgeRows rows(const Arguments& in) { return {in.colptr, in.columns, in.edges, in.width}; }
  GEOSFT_DEVICE GatedSumColumnPass(const Arguments& /*in*/, int64_t /*at*/) {}
  GEOSFT_DEVICE void add(const Arguments& in, int64_t n, int64_t channel) {
    const int64_t e = clamped(in.order[n], 0, in.edges - 1), edge = e * in.width + channel;
    key += in.edge_grad[edge];
    value += in.share[clamped(in.row[e], 0, in.rows - 1) * in.width + channel] * sigmoid_of(in.gate[edge]);
  }
  GEOSFT_DEVICE void end(const Arguments& in, int64_t at) const {
    in.key_grad[at] = key;
    in.value_grad[at] = value;
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const GatedSumCall<T>& in, Run&& run) {
  edge_grid<GatedSumPass<T>>(in, run);
}
template <typename T, class Run>
void run_grids(const GatedSumGradientCall<T>& in, Run&& run) {
  edge_grid<GatedSumRowPass<T>>(in, run);
  edge_grid<GatedSumColumnPass<T>>(in, run);
}

}  // namespace geosft::cuda
