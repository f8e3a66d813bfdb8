// SPDX-License-Identifier: Apache-2.0
// Converts the tensors of knn to the arrays of knn_kernel.cuh, for the GPU and its emulation in tests. The host reads
// nothing from the device: invalid values in ptr and non-finite coordinates raise no error; the neighbours found are
// still rows of the batch or missing.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <limits>
#include <optional>
#include <tuple>

#include "geometry/cuda/knn_kernel.cuh"
#include "geometry/device_offsets.h"
#include "geometry/operator_checks.h"
#include "geometry/operators.h"
#include "geometry/packed.h"

namespace geosft::cuda {

// Minimum mean number of points per cloud for a search along a space-filling curve.
inline constexpr int64_t kKnnCurvePoints = 4096;

// Spreads the bits of numbers below 1024 to every third bit.
inline at::Tensor spread_bits(at::Tensor x) {
  for (const auto& [shift, mask] :
       {std::pair(16, 0x30000FF), std::pair(8, 0x300F00F), std::pair(4, 0x30C30C3), std::pair(2, 0x9249249)}) {
    x = x.bitwise_or(x.__lshift__(shift)).bitwise_and(mask);
  }
  return x;
}

// Sorts the rows of [n, 3] per item along a Morton curve with 1024 cells per axis over [low, high].
inline at::Tensor curve_order(const at::Tensor& rows, const at::Tensor& low, const at::Tensor& cell,
                              const at::Tensor& ptr) {
  const at::Tensor place = ((rows - low) / cell).nan_to_num(0, 0, 0).clamp(0, 1023).to(at::kLong);
  at::Tensor key = spread_bits(place.select(1, 0))
                       .bitwise_or(spread_bits(place.select(1, 1)).__lshift__(1))
                       .bitwise_or(spread_bits(place.select(1, 2)).__lshift__(2));
  if (ptr.defined()) {
    const at::Tensor row = at::arange(rows.size(0), ptr.options());
    key = key.bitwise_or(at::searchsorted(ptr, row, /*out_int32=*/false, /*right=*/true).__lshift__(30));
  }
  return std::get<1>(key.sort(/*stable=*/true, 0, false));
}

// The points to search, in search order; `order` is undefined if that is the order of the batch.
struct KnnRows {
  at::Tensor rows, order, ptr;

  void sort(const at::Tensor& low, const at::Tensor& cell) {
    order = curve_order(rows, low, cell, ptr);
    rows = rows.index_select(0, order);
  }
  PackedRows packed() const {
    return {ptr.defined() ? ptr.const_data_ptr<int64_t>() : nullptr, ptr.defined() ? ptr.size(0) - 1 : 1, rows.size(0)};
  }
  const int64_t* order_data() const { return order.defined() ? order.const_data_ptr<int64_t>() : nullptr; }
};

// Implements geosft::knn; run(KnnSearch<T>) runs the kernels.
template <class Run>
std::tuple<at::Tensor, at::Tensor> nearest_rows(const at::Tensor& points, const at::Tensor& queries, int64_t k,
                                                const std::optional<at::Tensor>& ptr,
                                                const std::optional<at::Tensor>& query_ptr, int64_t curve_points,
                                                const Run& run) {
  check_knn(points, queries, k);
  check_ptr_pair(ptr, "ptr", points, query_ptr, "query_ptr", queries);
  TORCH_CHECK(queries.size(0) == 0 || k <= std::numeric_limits<int64_t>::max() / 8 / queries.size(0), "k = ", k,
              " neighbours of ", queries.size(0), " queries do not fit into memory");
  KnnRows of_points{points.contiguous(), {}, ptr_on_device(ptr, points.device(), "ptr")};
  KnnRows of_queries{queries.contiguous(), {}, ptr_on_device(query_ptr, points.device(), "query_ptr")};
  at::Tensor box;
  if (points.size(0) > 0 && points.size(0) >= curve_points * of_points.packed().items) {
    const at::Tensor low = points.amin(0);
    const at::Tensor cell = ((points.amax(0) - low).max() / 1024).clamp_min(std::numeric_limits<float>::min());
    of_points.sort(low, cell);
    of_queries.sort(low, cell);
    box = at::empty({tile_blocks(points.size(0), of_points.packed().items, kKnnThreads), 6}, points.options());
  }
  const at::Tensor index = at::full({queries.size(0), k}, -1, queries.options().dtype(at::kLong));
  const at::Tensor dist2 = at::full({queries.size(0), k}, std::numeric_limits<double>::infinity(), queries.options());
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "knn", [&] {
    run(KnnSearch<scalar_t>{of_points.rows.const_data_ptr<scalar_t>(), of_queries.rows.const_data_ptr<scalar_t>(),
                            of_points.order_data(), of_queries.order_data(), of_points.packed(), of_queries.packed(), k,
                            box.defined() ? box.mutable_data_ptr<scalar_t>() : nullptr,
                            index.mutable_data_ptr<int64_t>(), dist2.mutable_data_ptr<scalar_t>()});
  });
  return {index, dist2};
}

// Implements geosft::_knn_backward: d dist2 / d query = 2 (q - p), and d dist2 / d point is its negative. index_put
// sums the contributions to a point in a fixed order, so the result is deterministic.
inline std::tuple<at::Tensor, at::Tensor> nearest_backward(const at::Tensor& grad, const at::Tensor& points,
                                                           const at::Tensor& queries, const at::Tensor& index) {
  check_knn_backward(grad, points, queries, index);
  if (points.size(0) == 0) return {at::zeros_like(points), at::zeros_like(queries)};
  const at::Tensor found = index >= 0, rows = index.clamp(0, points.size(0) - 1).flatten();
  const at::Tensor apart = queries.unsqueeze(1) - points.index_select(0, rows).view({index.size(0), index.size(1), 3});
  const at::Tensor factor = at::where(found, 2 * grad, at::zeros_like(grad));
  const at::Tensor term = factor.unsqueeze(2) * apart;
  return {at::zeros_like(points).index_put_({rows}, term.flatten(0, 1).neg(), /*accumulate=*/true), term.sum(1)};
}

// Registers the operators of this header for a device; Launcher(device, op) is constructed once per call:
// KernelLauncher, or its replacement in tests.
template <class Launcher>
void implement_knn(torch::Library& m) {
  m.impl("knn", [](const at::Tensor& points, const at::Tensor& queries, int64_t k, const std::optional<at::Tensor>& ptr,
                   const std::optional<at::Tensor>& query_ptr) {
    const Launcher launch(points.device(), "knn");
    return nearest_rows(points, queries, k, ptr, query_ptr, kKnnCurvePoints, launch);
  });
  m.impl("_knn_backward", nearest_backward);
}

}  // namespace geosft::cuda
