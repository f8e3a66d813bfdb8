// SPDX-License-Identifier: Apache-2.0

#include "geometry/cuda/farthest_point_host.h"
#include "geometry/cuda/farthest_point_kernel.cuh"
#include "geometry/cuda/stream.h"
#include "geometry/operators.h"

namespace geosft::cuda {
namespace {

at::Tensor farthest_point_sampling(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                   int64_t start, int64_t rows) {
  const Stream stream(points.device());
  return farthest_point_rows(points, m, ptr, start, rows, [&](const auto& in) {
    check_launch(launch_farthest_points(in, stream.get()), "farthest_point_sampling");
  });
}

at::Tensor farthest_point_order(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  const Stream stream(points.device());
  return farthest_point_order_rows(points, ptr, [&](const auto& in) {
    check_launch(launch_farthest_points(in, stream.get()), "farthest_point_order");
  });
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_farthest_point_sampling", farthest_point_sampling);
  m.impl("_farthest_point_order", farthest_point_order);
}

}  // namespace geosft::cuda
