// SPDX-License-Identifier: Apache-2.0
// Converts the tensors of augment_clouds to the arrays of augment_kernel.cuh, for the GPU and its emulation in tests.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <optional>
#include <tuple>

#include "geometry/cuda/augment_kernel.cuh"
#include "geometry/device_offsets.h"
#include "geometry/operator_checks.h"
#include "geometry/operators.h"
#include "geometry/packed.h"

namespace geosft::cuda {

// Implements geosft::_augment_clouds; run(CloudBatch<T>) runs the kernel. The host reads nothing from the device except
// a ptr stored there, so non-finite points raise no error.
template <class Run>
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> augmented_clouds(
    const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& ptr, const at::Tensor& seeds,
    const AugmentOptions& options, const Run& run) {
  const CloudOffsets offsets = check_augmentation(points, normals, ptr, seeds, options);
  const at::Device device = points.device();
  const at::Tensor kept_ptr = offsets_tensor(offsets.kept);
  const at::Tensor ptrs =
      ptr_on_device(at::stack({offsets_tensor(offsets.all), offsets_tensor(offsets.subset), kept_ptr}), device, "ptr");
  const at::Tensor of_cloud = ptr_on_device(seeds, device, "seeds");
  const int64_t clouds = offsets.clouds(), count = offsets.kept.back();
  const auto index = points.options().dtype(at::kLong);
  const at::Tensor from = points.contiguous(), turned = given(normals) ? normals->contiguous() : at::Tensor();
  const at::Tensor key = at::empty({points.size(0)}, index), chosen = at::empty({offsets.subset.back()}, index);
  const at::Tensor rows = at::empty({count}, index), to = at::empty({count, 3}, points.options());
  const at::Tensor to_normals = turned.defined() ? at::empty_like(to) : at::Tensor();
  const auto packed = [&](int64_t which, int64_t size) {
    return PackedRows{ptrs.const_data_ptr<int64_t>() + which * (clouds + 1), clouds, size};
  };
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "augment_clouds", [&] {
    run(CloudBatch<scalar_t>{
        from.const_data_ptr<scalar_t>(), turned.defined() ? turned.const_data_ptr<scalar_t>() : nullptr,
        packed(0, points.size(0)), packed(1, chosen.size(0)), packed(2, count), of_cloud.const_data_ptr<int64_t>(),
        options, reinterpret_cast<uint64_t*>(key.mutable_data_ptr<int64_t>()), chosen.mutable_data_ptr<int64_t>(),
        rows.mutable_data_ptr<int64_t>(), to.mutable_data_ptr<scalar_t>(),
        turned.defined() ? to_normals.mutable_data_ptr<scalar_t>() : nullptr});
  });
  return {to, to_normals, kept_ptr, rows};
}

// Registers the operator for a device: see implement_knn.
template <class Launcher>
void implement_augmentation(torch::Library& m) {
  m.impl("_augment_clouds",
         [](const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& ptr,
            const at::Tensor& seeds, int64_t max_points, int64_t rotation, at::ArrayRef<double> numbers) {
           const Launcher launch(points.device(), "augment_clouds");
           return augmented_clouds(points, normals, ptr, seeds, augment_options(max_points, rotation, numbers), launch);
         });
}

}  // namespace geosft::cuda
