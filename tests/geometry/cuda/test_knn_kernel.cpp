// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/knn_kernel.cuh"

#include <catch2/catch.hpp>

#include "geometry/cuda/knn_host.h"
#include "geometry/knn.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/geometry/cuda/walled_array.h"
#include "tests/support.h"

namespace geosft::test::test_knn_kernel {
namespace {

using Optional = std::optional<at::Tensor>;

at::Tensor offsets_of(const std::vector<int64_t>& counts) {
  return at::constant_pad_nd(at::tensor(counts, at::kLong).cumsum(0), {1, 0});
}

// Few different coordinates: many equal distances.
at::Tensor coarse_points(int64_t count, uint64_t seed, at::ScalarType type) {
  return at::randint(-4, 5, {count, 3}, generator(seed), at::kDouble).div(4).to(type);
}

template <ThreadOrder kOrder>
void require_rows_of_cpu(const at::Tensor& points, const at::Tensor& queries, int64_t k, const Optional& ptr,
                         const Optional& query_ptr, int64_t curve_points, const std::string& what) {
  const auto [index, dist2] = cuda::nearest_rows(points, queries, k, ptr, query_ptr, curve_points,
                                                 [](const auto& in) { cuda::run_grids(in, EmulatedGrids<kOrder>()); });
  const auto [expected_index, expected_dist2] = knn(points, queries, k, ptr, query_ptr);
  require_equal(index, expected_index, what + " index");
  require_equal(dist2, expected_dist2, what + " dist2");
}

// Beyond the points and their boxes there is what lies where the queries do, and so would come first.
struct WalledSearch {
  template <typename T>
  void operator()(cuda::KnnSearch<T> in) const {
    const int64_t rows = in.of_points.rows, tiles = cuda::tile_blocks(rows, in.of_points.items, cuda::kKnnThreads);
    const WalledArray points(in.points, rows * 3, T(0));
    std::optional<WalledArray<T>> box;
    std::optional<WalledArray<const int64_t>> order;
    if (in.box) box.emplace(in.box, tiles * 6, T(0));
    if (in.point_order) order.emplace(in.point_order, rows, int64_t{-7});
    cuda::run_grids(in, EmulatedGrids<ThreadOrder::kAscending>());
    REQUIRE((!box || box->close()));
  }
};

}  // namespace

TEST_CASE("the CUDA kernels of knn, emulated, find the rows of the CPU", "[knn_tile]") {
  const std::vector<int64_t> clouds{300, 0, 1, 129, 5}, askers{40, 3, 130, 0, 7};
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor points = coarse_points(435, 3, type), queries = coarse_points(180, 4, type);
    for (const int64_t k : {1, 7, 16, 17, 32, 40}) {
      for (const int64_t curve_points : {int64_t{1}, cuda::kKnnCurvePoints}) {
        const std::string what = "k = " + std::to_string(k) + " curve from " + std::to_string(curve_points);
        require_rows_of_cpu<ThreadOrder::kAscending>(points, queries, k, offsets_of(clouds), offsets_of(askers),
                                                     curve_points, what);
        require_rows_of_cpu<ThreadOrder::kDescending>(points, points, k, std::nullopt, std::nullopt, curve_points,
                                                      what + " one item");
      }
    }
  }
}

TEST_CASE("the CUDA kernels of knn, emulated, leave tiles out and find the same rows", "[knn_tile]") {
  const at::Tensor points = at::randn({3000, 3}, generator(5)), queries = 2 * at::randn({200, 3}, generator(6));
  require_rows_of_cpu<ThreadOrder::kAscending>(points, queries, 16, std::nullopt, std::nullopt, 1, "far queries");
  const at::Tensor line = at::cat({points.slice(1, 0, 1), at::zeros({3000, 2})}, 1);
  require_rows_of_cpu<ThreadOrder::kAscending>(line, line, 3, std::nullopt, std::nullopt, 1, "on a line");
  const at::Tensor same = at::ones({700, 3});
  require_rows_of_cpu<ThreadOrder::kAscending>(same, same.slice(0, 0, 20), 16, std::nullopt, std::nullopt, 1, "equal");
}

TEST_CASE("the CUDA kernels of knn, emulated, survive coordinates that are not finite", "[knn_tile]") {
  at::Tensor points = at::randn({300, 3}, generator(7));
  points[5].fill_(std::numeric_limits<double>::quiet_NaN());
  points[6][1] = std::numeric_limits<double>::infinity();
  for (const int64_t curve_points : {int64_t{1}, cuda::kKnnCurvePoints}) {
    const auto [index, dist2] =
        cuda::nearest_rows(points, points, 8, std::nullopt, std::nullopt, curve_points,
                           [](const auto& in) { cuda::run_grids(in, EmulatedGrids<ThreadOrder::kAscending>()); });
    REQUIRE((index >= -1).logical_and(index < 300).all().item<bool>());
  }
}

TEST_CASE("the CUDA kernels of knn, emulated, read nothing beyond the points whatever the offsets", "[knn_tile]") {
  const at::Tensor points = 1 + at::rand({1280, 3}, generator(11)), queries = at::zeros({2000, 3});
  using Offsets = std::vector<int64_t>;
  for (const auto& [ptr, query_ptr] :
       {std::pair(Offsets{0, 1280}, Offsets{1000, 2000}), std::pair(Offsets{0, 1280}, Offsets{2000, 2000}),
        std::pair(Offsets{0, 1280}, Offsets{5000, 9000}), std::pair(Offsets{700, 1280}, Offsets{0, 2000}),
        std::pair(Offsets{900, 300, 1280}, Offsets{1500, 200, 2000}),
        std::pair(Offsets{-5, 640, 9000}, Offsets{1999, -3, 1})}) {
    for (const int64_t k : {4, 40}) {
      for (const int64_t curve_points : {int64_t{1}, cuda::kKnnCurvePoints}) {
        const auto [index, dist2] = cuda::nearest_rows(points, queries, k, at::tensor(ptr, at::kLong),
                                                       at::tensor(query_ptr, at::kLong), curve_points, WalledSearch());
        REQUIRE((index >= -1).logical_and(index < 1280).all().item<bool>());
        REQUIRE((dist2 >= 3).all().item<bool>());
      }
    }
  }
}

TEST_CASE("the gradient of knn from tensor operations is that of the CPU", "[knn_tile]") {
  const at::Tensor points = at::randn({30, 3}, generator(8), at::kDouble), queries = coarse_points(9, 9, at::kDouble);
  const at::Tensor index = std::get<0>(knn(points, queries, 40));  // 10 columns of padding
  const at::Tensor grad = at::randn({9, 40}, generator(10), at::kDouble);
  const auto [to_points, to_queries] = cuda::nearest_backward(grad, points, queries, index);
  const at::Tensor p = points.clone().requires_grad_(true), q = queries.clone().requires_grad_(true);
  const at::Tensor dist2 = std::get<1>(knn(p, q, 40));
  at::where(index >= 0, dist2 * grad, at::zeros_like(grad)).sum().backward();
  // Sums of 40 terms in another order: 6.6e-16 at most over 1,000 seeds.
  require_close(to_points, p.grad(), 1e-12, "points");
  require_close(to_queries, q.grad(), 1e-12, "queries");
}

}  // namespace geosft::test::test_knn_kernel
