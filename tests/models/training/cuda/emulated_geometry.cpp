// SPDX-License-Identifier: Apache-2.0
// The operators of points and graphs on the emulated GPU: see emulated_kernels.cpp.
#include "geometry/cuda/augment_host.h"
#include "geometry/cuda/augment_kernel.cuh"
#include "geometry/cuda/farthest_point_host.h"
#include "geometry/cuda/farthest_point_kernel.cuh"
#include "geometry/cuda/knn_host.h"
#include "geometry/cuda/knn_kernel.cuh"
#include "graph/cuda/random_walk_host.h"
#include "graph/cuda/random_walk_kernel.cuh"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/training/emulated_gpu.h"

namespace geosft::test::emulated_gpu {
namespace {

using Optional = std::optional<at::Tensor>;
using Grids = EmulatedGrids<ThreadOrder::kAscending>;

std::tuple<at::Tensor, at::Tensor> knn(const at::Tensor& points, const at::Tensor& queries, int64_t k,
                                       const Optional& ptr, const Optional& query_ptr) {
  return cuda::nearest_rows(points, queries, k, ptr, query_ptr, cuda::kKnnCurvePoints,
                            [](const auto& in) { launch([in] { cuda::knn_grids(in, Grids()); }); });
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> augment(const at::Tensor& points, const Optional& normals,
                                                                   const at::Tensor& ptr, const at::Tensor& seeds,
                                                                   int64_t most, int64_t rotation,
                                                                   at::ArrayRef<double> numbers) {
  return cuda::augmented_clouds(points, normals, ptr, seeds, augment_options(most, rotation, numbers),
                                [](const auto& in) {
                                  using T = std::remove_pointer_t<decltype(in.to_points)>;
                                  launch([in] { Grids().template grid<cuda::AugmentTile<T>>(in.all.items, 1, in); });
                                });
}

const auto run_farthest = [](const auto& in) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(in.points)>>;
  launch([in] { Grids().template grid<cuda::FarthestPointTile<T>>(in.packed.items, 1, in); });
};

at::Tensor farthest(const at::Tensor& points, int64_t m, const Optional& ptr, int64_t start, int64_t rows) {
  return cuda::farthest_point_rows(points, m, ptr, start, rows, run_farthest);
}

at::Tensor farthest_order(const at::Tensor& points, const Optional& ptr) {
  return cuda::farthest_point_order_rows(points, ptr, run_farthest);
}

at::Tensor walks(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps, const Optional& weight) {
  return cuda::random_walks(rowptr, col, steps, weight,
                            [](const auto& in) { launch([in] { cuda::walk_grids(in, Grids()); }); });
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, HPU, m) {
  m.impl("knn", knn);
  m.impl("_knn_backward", cuda::nearest_backward);
  m.impl("_augment_clouds", augment);
  m.impl("_farthest_point_sampling", farthest);
  m.impl("_farthest_point_order", farthest_order);
  m.impl("random_walk_pe", walks);
}

}  // namespace geosft::test::emulated_gpu
