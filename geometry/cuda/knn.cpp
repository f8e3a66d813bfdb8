// SPDX-License-Identifier: Apache-2.0

#include "geometry/cuda/knn_host.h"
#include "geometry/cuda/knn_kernel.cuh"
#include "geometry/cuda/stream.h"
#include "geometry/operators.h"

namespace geosft::cuda {
namespace {

std::tuple<at::Tensor, at::Tensor> knn(const at::Tensor& points, const at::Tensor& queries, int64_t k,
                                       const std::optional<at::Tensor>& ptr,
                                       const std::optional<at::Tensor>& query_ptr) {
  const Stream stream(points.device());
  return nearest_rows(points, queries, k, ptr, query_ptr, kKnnCurvePoints,
                      [&](const auto& in) { check_launch(launch_knn(in, stream.get()), "knn"); });
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("knn", knn);
  m.impl("_knn_backward", nearest_backward);
}

}  // namespace geosft::cuda
