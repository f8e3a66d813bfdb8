// SPDX-License-Identifier: Apache-2.0
#include "models/ops/gather_pairs.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_gather_pairs {

TEST_CASE("gather_pairs blends the rows of each bin", "[gather_pairs]") {
  const at::Tensor x = at::tensor({1.0, 2.0, 10.0, 20.0, 100.0, 200.0}, at::kDouble).view({3, 2});
  const at::Tensor top = at::tensor({2, 1}, at::kLong), partner = at::tensor({0, 1}, at::kLong);
  const at::Tensor weight = at::tensor({0.25, 0.5}, at::kDouble);
  require_close(gather_pairs(x, top, partner, weight), at::tensor({25.75, 51.5, 10.0, 20.0}, at::kDouble).view({2, 2}),
                1e-14, "blend");
  REQUIRE(gather_pairs(x.view({3, 1, 2}), top, partner, weight).sizes() == at::IntArrayRef({2, 1, 2}));
  REQUIRE(gather_pairs(x.select(1, 0), top, partner, weight).sizes() == at::IntArrayRef({2}));
  REQUIRE(gather_pairs(x.to(at::kHalf), top, partner, weight.to(at::kFloat)).scalar_type() == at::kFloat);
}

TEST_CASE("gather_pairs passes gradcheck where rows are drawn more than once", "[gather_pairs]") {
  const at::Tensor top = at::tensor({2, 1, 2, 0}, at::kLong), partner = at::tensor({0, 1, 4, 2}, at::kLong);
  require_gradcheck([&](const std::vector<at::Tensor>& in) { return gather_pairs(in[0], top, partner, in[1]); },
                    {at::randn({5, 3}, generator(1), at::kDouble), at::rand({4}, generator(2), at::kDouble)});
}

TEST_CASE("gather_pairs names the argument that is wrong", "[gather_pairs]") {
  const at::Tensor x = at::ones({3, 2}), rows = at::zeros({4}, at::kLong), weight = at::ones({4});
  require_error([&] { gather_pairs(at::ones({3}, at::kLong), rows, rows, weight); }, {"x", "Long"});
  require_error([&] { gather_pairs(x, at::zeros({4}), rows, weight); }, {"top", "Float"});
  require_error([&] { gather_pairs(x, rows, at::zeros({3}, at::kLong), weight); }, {"partner", "4", "3"});
  require_error([&] { gather_pairs(x, rows, rows, at::ones({4, 1})); }, {"weight", "[4, 1]"});
  require_error([&] { gather_pairs(x, rows + 3, rows, weight); }, {"top must", "has 3", "row 3"});
  require_error([&] { gather_pairs(x, rows, rows - 1, weight); }, {"partner must", "has 3", "row -1"});
}

}  // namespace geosft::test::test_gather_pairs
