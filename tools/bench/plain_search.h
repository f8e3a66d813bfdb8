// SPDX-License-Identifier: Apache-2.0
// Implements straightforward point searches as baselines.
#pragma once

#include <ATen/ATen.h>

namespace geosft::bench {

// Farthest point sampling by the O(n m) loop: float32 points [n, 3], rows int64 [min(m, n)], the same rows as
// geosft::farthest_point_sampling with start 0.
at::Tensor plain_farthest_points(const at::Tensor& points, int64_t m);

// Nearest neighbours with nanoflann, used as in its documentation: float32 points [n, 3], the k nearest of each point
// among all points. Returns squared distances [n, k] in ascending order, k <= n. One tree; the queries run on ATen's
// thread pool.
at::Tensor plain_neighbour_distances(const at::Tensor& points, int64_t k);

}  // namespace geosft::bench
