// SPDX-License-Identifier: Apache-2.0
// Farthest point sampling over packed batches. Operator geosft::farthest_point_sampling.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Samples min(m, n_b) distinct packed rows of each item, int64. The first is row `start` of the item; each further one
// has the largest squared distance to the rows chosen so far. Ties go to the lowest row. A chosen row is never chosen
// again, even among duplicated points.
//   points [N, 3] float32 or float64, finite; ptr int64 [B + 1]
//   m >= 0; start >= 0 is relative to the item and must exist in every item that is not empty
// Distances are sums of (a - b)^2 in the tensor's dtype. The result is that of the plain O(n m) loop, index by index,
// but computed with a k-d tree of buckets as in QuickFPS (Han et al., IEEE TCAD 2023). A bucket is skipped if its
// bounding box is farther from the new row than all of its points are from the rows chosen before. Items are processed
// in parallel. On the CPU, squared distances that overflow are an error: points of an item may be at most 1.8e19 apart
// in float32, and 1.3e154 in float64, measured by the diagonal of their bounding box. Errors name the argument.
//
// Tracing (torch.compile, torch.export, fake tensors): without ptr the size of the result is min(m, N). With ptr it
// depends on the values of ptr and is an unbacked symbol, which torch.compile(fullgraph=True) takes, and without
// fullgraph needs torch._dynamo.config.capture_scalar_outputs for. A ptr on the meta device has no values: there is no
// result. With ptr on a GPU the call synchronizes to read that size, and cannot be captured in a CUDA graph; with ptr
// on the CPU, or none, it can (see ptr_on_device).
at::Tensor farthest_point_sampling(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr = {},
                                   int64_t start = 0);

// The canonical order of clouds: int64 [N], each whole item in farthest-point order. It starts from the row that is
// farthest from the item's centroid (ties: the lowest row). Up to rounding it does not depend on rotation, translation,
// or the stored order of the points. Points may be as far apart as for farthest_point_sampling. On a GPU the call does
// not synchronize, and points that are not finite raise no error but give some of the rows; clouds of more than 4,096
// points are ordered on the CPU.
at::Tensor farthest_point_order(const at::Tensor& points, const std::optional<at::Tensor>& ptr = {});

}  // namespace geosft
