// SPDX-License-Identifier: Apache-2.0
// Sums messages over the edges of a graph. Operators behind graph convolutions and sum pooling.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

#include "models/ops/edge_index.h"

namespace geosft {

// Sums messages over the edges of each row, as graph convolutions do (Kipf and Welling, "Semi-supervised classification
// with graph convolutional networks", 2017, with scale; Hu et al., "Strategies for pre-training graph neural networks",
// 2020, with edge and relu):
//   out[i] = sum over the edges e of row i of scale[e] f(x[col[e]] + edge[e])
// where f is the identity or relu, edge is 0 and scale is 1 if absent.
//
//   x [C, d], C the columns of `index`; edge [E, d]; scale [E]; result [R, d], 0 for a row without edges
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in x, edge
// and scale. Sums are in the order of the edges: the same bits on any number of threads. Wrong shapes or
// dtypes, and on the CPU wrong values of `index`: an error naming the argument.
at::Tensor edge_sum(const at::Tensor& x, const EdgeIndex& index, const std::optional<at::Tensor>& edge = std::nullopt,
                    const std::optional<at::Tensor>& scale = std::nullopt, bool relu = false);

// Sums the rows of each item: x [N, d] packed by ptr (int64 [B + 1], or none for one item): [B, d].
at::Tensor sum_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr);

// For the kernels and the autograd function.

using EdgeSumForward = at::Tensor(const at::Tensor& x, const std::optional<at::Tensor>& edge,
                                  const std::optional<at::Tensor>& scale, const at::Tensor& rowptr,
                                  const at::Tensor& col, bool relu);
// The gradients of x [C, d] and of edge [E, d].
using EdgeSumBackward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& grad, const at::Tensor& x,
                                                           const std::optional<at::Tensor>& edge,
                                                           const std::optional<at::Tensor>& scale,
                                                           const at::Tensor& row, const at::Tensor& colptr,
                                                           const at::Tensor& order, bool relu);

// Checks types and shapes of the floating arguments for so many edges.
void check_edge_sum(const at::Tensor& x, const std::optional<at::Tensor>& edge, const std::optional<at::Tensor>& scale,
                    int64_t edges);
// Checks types and shapes of the arguments of the backward pass.
void check_edge_sum_backward(const at::Tensor& grad, const at::Tensor& x, const std::optional<at::Tensor>& edge,
                             const std::optional<at::Tensor>& scale, const at::Tensor& row, const at::Tensor& colptr,
                             const at::Tensor& order);

}  // namespace geosft
