// SPDX-License-Identifier: Apache-2.0
// Computes edge_sum on a GPU: one pass over the edges of the rows, and backward one over those of the columns.
//
// Bound: memory, d numbers per edge (and d more of edge features) and per row.
#pragma once

#include "models/ops/cuda/edge_pass_kernel.cuh"

namespace geosft::cuda {

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

template <typename T>
struct EdgeSumPass {
  using Arguments = EdgeSumCall<T>;
  T sum = 0;

  GEOSFT_HOST_DEVICE static EdgeRows rows(const Arguments& in) { return {in.rowptr, in.rows, in.edges, in.width}; }
  GEOSFT_DEVICE EdgeSumPass(const Arguments& /*in*/, int64_t /*at*/) {}
  GEOSFT_DEVICE void add(const Arguments& in, int64_t e, int64_t channel) {
    T message = in.x[clamped(in.col[e], 0, in.columns - 1) * in.width + channel];
    if (in.edge) message += in.edge[e * in.width + channel];
    if (in.relu && message < T(0)) message = T(0);
    sum += in.scale ? in.scale[e] * message : message;
  }
  GEOSFT_DEVICE void end(const Arguments& in, int64_t at) const { in.out[at] = sum; }
};

template <typename T>
struct EdgeSumGradientPass {
  using Arguments = EdgeSumGradientCall<T>;
  T x, sum = 0;

  GEOSFT_HOST_DEVICE static EdgeRows rows(const Arguments& call) {
    return {call.colptr, call.in.columns, call.in.edges, call.in.width};
  }
  GEOSFT_DEVICE EdgeSumGradientPass(const Arguments& call, int64_t at) : x(call.in.x[at]) {}
  GEOSFT_DEVICE void add(const Arguments& call, int64_t n, int64_t channel) {
    const EdgeSumCall<T>& in = call.in;
    const int64_t e = clamped(call.order[n], 0, in.edges - 1);
    T slope = call.grad[clamped(call.row[e], 0, in.rows - 1) * in.width + channel];
    if (in.scale) slope *= in.scale[e];
    if (in.relu) {
      const T message = in.edge ? x + in.edge[e * in.width + channel] : x;
      if (!(message > T(0))) slope = T(0);
    }
    if (call.edge_grad) call.edge_grad[e * in.width + channel] = slope;
    sum += slope;
  }
  GEOSFT_DEVICE void end(const Arguments& call, int64_t at) const { call.x_grad[at] = sum; }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const EdgeSumCall<T>& in, Run&& run) {
  edge_grid<EdgeSumPass<T>>(in, run);
}
template <typename T, class Run>
void run_grids(const EdgeSumGradientCall<T>& in, Run&& run) {
  edge_grid<EdgeSumGradientPass<T>>(in, run);
}

}  // namespace geosft::cuda
