// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/farthest_point_kernel.cuh"

#include <catch2/catch.hpp>

#include "geometry/cuda/farthest_point_host.h"
#include "geometry/farthest_point_sampling.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/guarded_memory.h"
#include "tests/support.h"

namespace geosft::test::test_farthest_point_kernel {
namespace {

template <ThreadOrder kOrder>
at::Tensor emulated(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr, int64_t start,
                    int64_t rows) {
  return cuda::farthest_point_rows(points, m, ptr, start, rows, [](const auto& in) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(in.points)>>;
    EmulatedGrids<kOrder>().template grid<cuda::FarthestPointKernel<T>>(in.packed.items, 1, in);
  });
}

template <ThreadOrder kOrder>
at::Tensor emulated_order(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  return cuda::farthest_point_order_rows(points, ptr, [](const auto& in) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(in.points)>>;
    EmulatedGrids<kOrder>().template grid<cuda::FarthestPointKernel<T>>(in.packed.items, 1, in);
  });
}

void require_order(const at::Tensor& points, const std::optional<at::Tensor>& ptr, const std::string& what) {
  const at::Tensor expected = farthest_point_order(points, ptr);
  require_equal(emulated_order<ThreadOrder::kAscending>(points, ptr), expected, what);
  require_equal(emulated_order<ThreadOrder::kDescending>(points, ptr), expected, what + " turned");
}

// The rows of the CPU operator, index by index, in both orders of threads.
void require_rows(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr, int64_t start,
                  const std::string& what) {
  const at::Tensor expected = farthest_point_sampling(points, m, ptr, start);
  require_equal(emulated<ThreadOrder::kAscending>(points, m, ptr, start, expected.size(0)), expected, what);
  require_equal(emulated<ThreadOrder::kDescending>(points, m, ptr, start, expected.size(0)), expected,
                what + " turned");
}

at::Tensor random_points(int64_t count, at::ScalarType type, uint64_t seed) {
  return at::randn({count, 3}, generator(seed), at::TensorOptions().dtype(at::kDouble)).to(type);
}

}  // namespace

TEST_CASE("the CUDA kernel of farthest_point_sampling, emulated, chooses the rows of the CPU",
          "[farthest_point_tile]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    require_rows(random_points(700, type, 1), 40, std::nullopt, 3, "one cloud");
    require_rows(random_points(5, type, 2), 9, std::nullopt, 0, "fewer points than asked for");
    require_rows(random_points(0, type, 3), 4, std::nullopt, 0, "no points");
    const at::Tensor ptr = at::tensor({0, 600, 600, 603, 1200}, at::kLong);
    require_rows(random_points(1200, type, 4), 20, ptr, 2, "ragged");
  }
}

TEST_CASE("the CUDA kernel of farthest_point_sampling, emulated, settles ties as the CPU does",
          "[farthest_point_tile]") {
  const at::Tensor grid = at::arange(64, at::kFloat);
  const at::Tensor points = at::stack({grid.remainder(4), grid.div(4).floor().remainder(4), grid.div(16).floor()}, 1);
  require_rows(at::cat({points, points}), 128, std::nullopt, 5, "duplicated lattice");
}

TEST_CASE("the CUDA kernel of farthest_point_order, emulated, gives the order of the CPU", "[farthest_point_tile]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    require_order(random_points(700, type, 8), std::nullopt, "one cloud");
    require_order(random_points(0, type, 9), std::nullopt, "no points");
    require_order(random_points(1200, type, 10), at::tensor({0, 600, 600, 603, 1200}, at::kLong), "ragged");
    require_order(at::ones({9, 3}, type), std::nullopt, "equal points");
  }
  require_order(at::tensor({1., 1., 0., -1., 1., 0., -1., -1., 0., 1., -1., 0.}).view({4, 3}), std::nullopt, "ties");
}

TEST_CASE("the CUDA kernel of farthest_point_sampling, emulated, takes clouds that registers do not hold",
          "[farthest_point_tile]") {
  require_rows(random_points(10241, at::kFloat, 5), 6, std::nullopt, 0, "float32");
  require_rows(random_points(4097, at::kDouble, 6), 6, std::nullopt, 0, "float64");
}

TEST_CASE("the CUDA kernel of farthest_point_sampling, emulated, stays inside the arrays whatever its input",
          "[farthest_point_tile]") {
  const auto inside = [](const at::Tensor& rows) { REQUIRE(rows.ge(0).logical_and(rows.lt(20)).all().item<bool>()); };
  with_guarded_memory([&] {
    const at::Tensor points = random_points(20, at::kFloat, 7), ptr = at::tensor({-7, 9, 50}, at::kLong);
    const at::Tensor wrong = at::full_like(points, std::numeric_limits<double>::quiet_NaN());
    inside(emulated<ThreadOrder::kAscending>(points, 4, ptr, 30, 8));
    inside(emulated<ThreadOrder::kDescending>(points, 4, ptr, 30, 8));
    inside(emulated<ThreadOrder::kAscending>(wrong, 4, std::nullopt, 0, 4));
    inside(emulated_order<ThreadOrder::kAscending>(points, ptr));
    inside(emulated_order<ThreadOrder::kAscending>(wrong, std::nullopt));
  });
}

}  // namespace geosft::test::test_farthest_point_kernel
