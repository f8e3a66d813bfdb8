// SPDX-License-Identifier: Apache-2.0
// Sums values over the edges of a graph by learned gates, as GatedGCN does.
#pragma once

#include <ATen/ATen.h>

#include <tuple>

#include "models/ops/edge_index.h"

namespace geosft {

// The edge-gated mean of GatedGCN (Bresson and Laurent, "Residual gated graph ConvNets", 2017): for edge e of row i,
//   gate[e] = query[i] + key[col[e]] + edge[e],   s[e] = sigmoid(gate[e])
//   out[i]  = sum_e s[e] value[col[e]] / (sum_e s[e] + eps),   eps = 1e-6
//
//   query [R, d]; key and value [C, d]; edge [E, d]; results out [R, d], 0 for a row without edges, and gate [E, d]
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in all
// floating arguments. Sums are in the order of the edges: the same bits on any number of threads. Wrong shapes or
// dtypes, and on the CPU wrong values of `index`: an error naming the argument.
std::tuple<at::Tensor, at::Tensor> gated_edge_sum(const at::Tensor& query, const at::Tensor& key,
                                                  const at::Tensor& value, const at::Tensor& edge,
                                                  const EdgeIndex& index);

// For the kernels and the autograd function.

inline constexpr double kGateEps = 1e-6;

// Results out, gate and total [R, d], the denominators, in the type that kernels compute in.
using GatedSumForward = std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor& query, const at::Tensor& key,
                                                                       const at::Tensor& value, const at::Tensor& edge,
                                                                       const at::Tensor& rowptr, const at::Tensor& col);
// The gradients of query, key, value and edge, in the type that kernels compute in; the five tensors of the index.
using GatedSumBackward = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>(
    const at::Tensor& out_grad, const at::Tensor& gate_grad, const at::Tensor& out, const at::Tensor& gate,
    const at::Tensor& total, const at::Tensor& value, const at::Tensor& rowptr, const at::Tensor& col,
    const at::Tensor& row, const at::Tensor& colptr, const at::Tensor& order);

// Check types and shapes.
void check_gated_sum(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& edge,
                     const at::Tensor& rowptr, const at::Tensor& col);
void check_gated_sum_backward(const at::Tensor& out_grad, const at::Tensor& gate_grad, const at::Tensor& out,
                              const at::Tensor& gate, const at::Tensor& total, const at::Tensor& value,
                              const EdgeIndex& index);

}  // namespace geosft
