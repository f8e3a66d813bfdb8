// SPDX-License-Identifier: Apache-2.0
// Converts the tensors of farthest point sampling to the arrays of farthest_point_kernel.cuh, for the GPU and its
// emulation in tests.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <optional>

#include "geometry/cuda/farthest_point_kernel.cuh"
#include "geometry/device_offsets.h"
#include "geometry/operator_checks.h"
#include "geometry/operators.h"
#include "geometry/packed.h"

namespace geosft::cuda {

// Samples at most m rows per item, `rows` in total.
template <class Run>
at::Tensor chosen_rows(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr, int64_t start,
                       int64_t rows, const Run& run) {
  const auto index = points.options().dtype(at::kLong);
  const bool packed = given(ptr);
  TORCH_CHECK(rows >= 0 && rows <= points.size(0), "rows must be between 0 and ", points.size(0), ", got ", rows);
  const at::Tensor offsets = packed ? ptr_on_device(ptr, points.device(), "ptr") : at::full({1}, points.size(0), index);
  const at::Tensor counts = packed ? offsets.diff().clamp_max(m) : offsets.clamp_max(m);
  const at::Tensor out_ptr = at::constant_pad_nd(counts.cumsum(0), {1, 0});
  const at::Tensor values = points.contiguous();
  const at::Tensor distance = at::empty({points.size(0)}, points.options());
  const at::Tensor chosen = at::zeros({rows}, index);
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "farthest_point_sampling", [&] {
    run(FarthestPoints<scalar_t>{values.const_data_ptr<scalar_t>(),
                                 {packed ? offsets.const_data_ptr<int64_t>() : nullptr, counts.size(0), points.size(0)},
                                 m,
                                 start,
                                 rows,
                                 out_ptr.const_data_ptr<int64_t>(),
                                 distance.mutable_data_ptr<scalar_t>(),
                                 chosen.mutable_data_ptr<int64_t>()});
  });
  return chosen;
}

// Implements geosft::_farthest_point_sampling; run(FarthestPoints<T>) runs the kernel. The host reads nothing from the
// device: invalid values in ptr, `start` beyond an item and non-finite points raise no error. The result still holds
// valid rows of the batch.
template <class Run>
at::Tensor farthest_point_rows(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr, int64_t start,
                               int64_t rows, const Run& run) {
  check_farthest_point_arguments(points, m, ptr, start);
  return chosen_rows(points, m, ptr, start, rows, run);
}

// Implements geosft::_farthest_point_order in the same way.
template <class Run>
at::Tensor farthest_point_order_rows(const at::Tensor& points, const std::optional<at::Tensor>& ptr, const Run& run) {
  check_farthest_point_arguments(points, points.size(0), ptr, 0);
  return chosen_rows(points, points.size(0), ptr, FarthestPoints<float>::kOutermost, points.size(0), run);
}

// Registers the operators for a device: see implement_knn.
template <class Launcher>
void implement_farthest_points(torch::Library& m) {
  m.impl("_farthest_point_sampling", [](const at::Tensor& points, int64_t count, const std::optional<at::Tensor>& ptr,
                                        int64_t start, int64_t rows) {
    const Launcher launch(points.device(), "farthest_point_sampling");
    return farthest_point_rows(points, count, ptr, start, rows, launch);
  });
  m.impl("_farthest_point_order", [](const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
    const Launcher launch(points.device(), "farthest_point_order");
    return farthest_point_order_rows(points, ptr, launch);
  });
}

}  // namespace geosft::cuda
