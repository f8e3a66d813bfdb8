// SPDX-License-Identifier: Apache-2.0
// The obvious ways to search among points, for comparison.
#pragma once

#include <ATen/ATen.h>

namespace geosft::bench {

// Farthest point sampling by the O(n m) loop: float32 points [n, 3], rows int64 [min(m, n)], the same choice as
// geosft::farthest_point_sampling with start 0.
at::Tensor plain_farthest_points(const at::Tensor& points, int64_t m);

// nanoflann as its documentation uses it: float32 points [n, 3], the k nearest of every point among all points. Squared
// distances [n, k] in ascending order, k <= n. One tree, queries over the threads of ATen's pool.
at::Tensor plain_neighbour_distances(const at::Tensor& points, int64_t k);

}  // namespace geosft::bench
