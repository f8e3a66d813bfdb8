// SPDX-License-Identifier: Apache-2.0
// k nearest neighbours over packed batches: operator geosft::knn, an exact search on a k-d tree.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

namespace geosft {

// The k nearest points of each query within its item: (index int64 [Q, k], dist2 [Q, k]).
//   points [N, 3], queries [Q, 3]: float32 or float64, one dtype, finite; strided tensors are accepted
//   k >= 1; if the item has fewer points, the remaining index is -1 and dist2 is +infinity
//   ptr, query_ptr: int64 [B + 1], given both or neither
// index holds packed rows of `points`, sorted by distance and then by row; among equal distances the lowest rows are
// kept. A query that is itself a point finds itself. dist2 is the sum of (q - p)^2 in the tensor's dtype, in units of
// length squared. It is differentiable once in points and queries, and its bits do not depend on the number of threads.
// On the CPU, squared distances that overflow are an error: points and queries of an item may be at most 1.8e19 apart
// in float32, and 1.3e154 in float64, measured by the diagonal of their bounding box. Errors name the argument.
std::tuple<at::Tensor, at::Tensor> knn(const at::Tensor& points, const at::Tensor& queries, int64_t k,
                                       const std::optional<at::Tensor>& ptr = {},
                                       const std::optional<at::Tensor>& query_ptr = {});

}  // namespace geosft
