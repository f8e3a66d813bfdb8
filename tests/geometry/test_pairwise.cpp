// SPDX-License-Identifier: Apache-2.0
#include "geometry/pairwise.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_pairwise {
using test::require_close;
using test::require_error;

namespace {

at::Tensor normal(int64_t rows, at::ScalarType dtype, uint64_t seed) {
  return at::randn({rows, 3}, test::generator(seed), at::TensorOptions().dtype(dtype));
}

}  // namespace

TEST_CASE("pairwise: item by item, row-major, empty items included") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble);
  const at::Tensor x = normal(7, dtype, 1), xs = normal(6, dtype, 2);
  const std::vector<int64_t> q = {0, 3, 3, 5, 7}, k = {0, 2, 4, 4, 6};
  const at::Tensor dist2 = squared_distances(x, xs, at::tensor(q, at::kLong), at::tensor(k, at::kLong));
  const at::Tensor product = normal_products(x, xs, at::tensor(q, at::kLong), at::tensor(k, at::kLong));
  std::vector<double> expected_dist2, expected_product;
  for (size_t b = 0; b + 1 < q.size(); ++b) {
    for (int64_t i = q[b]; i < q[b + 1]; ++i) {
      for (int64_t j = k[b]; j < k[b + 1]; ++j) {
        expected_dist2.push_back((x[i] - xs[j]).to(at::kDouble).square().sum().item<double>());
        expected_product.push_back((x[i] * xs[j]).to(at::kDouble).sum().item<double>());
      }
    }
  }
  // Three products and sums: 1.3e-7 in float32 at most over 1,000 seeds, and the same bits in float64.
  const double tolerance = dtype == at::kFloat ? 1e-6 : 1e-14;
  REQUIRE(dist2.scalar_type() == dtype);
  require_close(dist2, at::tensor(expected_dist2, at::kDouble), tolerance, "squared distances");
  require_close(product, at::tensor(expected_product, at::kDouble), tolerance, "products");
}

TEST_CASE("pairwise: direct differences stay exact far from the origin") {
  const at::Tensor x = at::full({1, 3}, 4096.f), xs = x + 0.25f;
  REQUIRE(squared_distances(x, xs).item<float>() == 0.1875f);
}

TEST_CASE("pairwise: gradients against central differences") {
  const at::Tensor q_ptr = at::tensor({0, 2, 4}, at::kLong), k_ptr = at::tensor({0, 3, 5}, at::kLong);
  const std::vector<at::Tensor> inputs = {normal(4, at::kDouble, 3), normal(5, at::kDouble, 4)};
  test::require_gradcheck(
      [&](const std::vector<at::Tensor>& in) { return squared_distances(in[0], in[1], q_ptr, k_ptr); }, inputs);
  test::require_gradcheck(
      [&](const std::vector<at::Tensor>& in) { return normal_products(in[0], in[1], q_ptr, k_ptr); }, inputs);
}

TEST_CASE("pairwise: bad arguments are refused by name") {
  const at::Tensor x = normal(4, at::kFloat, 5);
  const at::Tensor ptr = at::tensor({0, 4}, at::kLong);
  require_error([&] { squared_distances(x[0], x); }, {"x must"});
  require_error([&] { squared_distances(x, x[0]); }, {"xs must"});
  require_error([&] { squared_distances(x, x.to(at::kDouble)); }, {"x and xs", "Double"});
  require_error([&] { normal_products(x[0], x); }, {"m must"});
  require_error([&] { normal_products(x, x[0]); }, {"ms must"});
  require_error([&] { normal_products(x, x, ptr); }, {"q_ptr", "k_ptr"});
  require_error([&] { normal_products(x, x, ptr, at::tensor({0, 5}, at::kLong)); }, {"k_ptr", "4"});
}

}  // namespace geosft::test::test_pairwise
