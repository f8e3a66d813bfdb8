// SPDX-License-Identifier: Apache-2.0

#include "geometry/cuda/augment_host.h"
#include "geometry/cuda/augment_kernel.cuh"
#include "geometry/cuda/stream.h"
#include "geometry/operators.h"

namespace geosft::cuda {
namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> augment_clouds(
    const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& ptr, const at::Tensor& seeds,
    int64_t most, int64_t rotation, at::ArrayRef<double> numbers) {
  const Stream stream(points.device());
  return augmented_clouds(points, normals, ptr, seeds, augment_options(most, rotation, numbers), [&](const auto& in) {
    check_launch(launch_augmentation(in, stream.get()), "augment_clouds");
  });
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_augment_clouds", augment_clouds);
}

}  // namespace geosft::cuda
