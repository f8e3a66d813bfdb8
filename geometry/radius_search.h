// SPDX-License-Identifier: Apache-2.0
// All neighbours within a radius over packed batches, found exactly on a k-d tree. Public, for neighbourhood graphs of
// your own: rowptr and col are those of a CsrGraph, as the radial edges of models of molecules are.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Neighbours in compressed sparse rows: the neighbours of query q are the entries rowptr[q] … rowptr[q + 1] - 1.
struct RadiusNeighbours {
  at::Tensor rowptr;  // int64 [Q + 1]
  at::Tensor col;     // int64 [E], packed rows of `points`
  at::Tensor dist2;   // [E], dtype of `points`, in units of length squared
};

// Finds the points of each query's item at distance <= radius, sorted by distance and then by row. A query that is
// itself a point finds itself.
//   points [N, 3], queries [Q, 3]: float32 or float64, one dtype, finite; strided tensors are accepted
//   radius >= 0, finite, in the unit of the points; compared as dist2 <= radius * radius in the points' dtype
//   ptr, query_ptr: int64 [B + 1], given both or neither
// Carries no gradient. The bits do not depend on the number of threads. Squared distances that overflow are an error,
// as of knn. Errors name the argument.
RadiusNeighbours radius_search(const at::Tensor& points, const at::Tensor& queries, double radius,
                               const std::optional<at::Tensor>& ptr = {},
                               const std::optional<at::Tensor>& query_ptr = {});

}  // namespace geosft
