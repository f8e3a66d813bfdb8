// SPDX-License-Identifier: Apache-2.0
// The gradient of geometry/knn.h; values beside gradients of fixtures are in test_knn.cpp.
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "geometry/knn.h"
#include "tests/support.h"

namespace geosft::test::test_knn_autograd {
namespace {

struct Neighbours {
  at::Tensor index, dist2;
};

Neighbours run(const at::Tensor& points, const at::Tensor& queries, int64_t k,
               const std::optional<at::Tensor>& ptr = {}, const std::optional<at::Tensor>& query_ptr = {}) {
  auto [index, dist2] = knn(points, queries, k, ptr, query_ptr);
  return {index, dist2};
}

at::Tensor uniform(int64_t rows, at::ScalarType dtype, uint64_t seed) {
  return at::rand({rows, 3}, generator(seed), at::TensorOptions().dtype(dtype));
}

}  // namespace

TEST_CASE("knn: gradients have the same bits on one thread and on two, of many items and of one") {
  const int64_t items = GENERATE(1, 40);
  const at::Tensor cloud = uniform(4000, at::kFloat, 17);
  // Items of many sizes; every third has no points, so that its queries find nothing.
  std::vector<int64_t> offsets{0}, query_offsets{0};
  for (int64_t b = 1; b <= items; ++b) {
    query_offsets.push_back(4000 * b * b / (items * items));
    offsets.push_back(b % 3 == 0 ? offsets.back() : query_offsets.back());
  }
  offsets.back() = 4000;
  const auto gradients = [&](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    const at::Tensor points = cloud.clone().requires_grad_(true);
    const at::Tensor queries = cloud.flip(0).clone().requires_grad_(true);
    const Neighbours found =
        run(points, queries, 6, at::tensor(offsets, at::kLong), at::tensor(query_offsets, at::kLong));
    const at::Tensor weight = at::randn(found.dist2.sizes(), generator(18));
    (found.dist2.masked_fill(found.index < 0, 0) * weight).sum().backward();
    at::set_num_threads(before);
    // The terms one by one, summed in the order of the queries: measured, the same bits.
    const at::Tensor kept = found.index >= 0;
    const at::Tensor row = found.index.masked_select(kept), query = kept.nonzero().select(1, 0);
    const at::Tensor term = 2 * (queries.index_select(0, query) - points.index_select(0, row)).detach() *
                            weight.masked_select(kept).unsqueeze(1);
    require_close(points.grad(), at::zeros({4000, 3}).index_add_(0, row, -term), 1e-5, "points");
    require_close(queries.grad(), at::zeros({4000, 3}).index_add_(0, query, term), 1e-5, "queries");
    return std::pair(points.grad(), queries.grad());
  };
  const auto one = gradients(1), two = gradients(2);
  require_equal(two.first, one.first, "points");
  require_equal(two.second, one.second, "queries");
}

TEST_CASE("knn: gradients of dist2 against central differences, padding included") {
  const at::Tensor points = uniform(9, at::kDouble, 10), queries = uniform(6, at::kDouble, 11);
  const at::Tensor ptr = at::tensor({0, 2, 9}, at::kLong), query_ptr = at::tensor({0, 2, 6}, at::kLong);
  require_gradcheck(
      [&](const std::vector<at::Tensor>& in) {
        const Neighbours result = run(in[0], in[1], 4, ptr, query_ptr);
        return result.dist2.masked_fill(result.index < 0, 0);
      },
      {points, queries});
}

TEST_CASE("knn: the gradient of padding does not count") {
  const at::Tensor points = uniform(2, at::kDouble, 12).requires_grad_(true);
  const Neighbours result = run(points, uniform(1, at::kDouble, 13), 3);
  result.dist2.backward(at::tensor({0.0, 0.0, std::numeric_limits<double>::quiet_NaN()}, at::kDouble).unsqueeze(0));
  require_equal(points.grad(), at::zeros({2, 3}, at::kDouble), "gradient");
  REQUIRE_FALSE(result.index.requires_grad());
}

TEST_CASE("knn: double backward is refused with a sentence") {
  const auto dist2 = [](const std::vector<at::Tensor>& in) { return run(in[0], in[1], 2).dist2; };
  require_no_double_backward(dist2, {uniform(5, at::kDouble, 14), uniform(4, at::kDouble, 15)}, "knn");
}

}  // namespace geosft::test::test_knn_autograd
