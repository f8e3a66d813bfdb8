// SPDX-License-Identifier: Apache-2.0
#include "models/ops/max_pool.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_max_pool {
namespace {

using Tensors = std::vector<at::Tensor>;

}  // namespace

TEST_CASE("max_pool is the largest row of every item", "[max_pool]") {
  const at::Tensor x = normal({12, 3}, 1);
  const auto largest = [&](int64_t begin, int64_t end) { return std::get<0>(x.slice(0, begin, end).max(0)); };
  require_equal(max_pool(x, longs({0, 5, 6, 12})), at::stack({largest(0, 5), largest(5, 6), largest(6, 12)}), "ragged");
  require_equal(max_pool(x, longs({0, 4, 8, 12})), at::stack({largest(0, 4), largest(4, 8), largest(8, 12)}), "equal");
  require_equal(max_pool(x, std::nullopt), largest(0, 12).unsqueeze(0), "one item");
  require_equal(max_pool(x, longs({0, 0, 12, 12})),
                at::stack({at::zeros({3}, at::kDouble), largest(0, 12), at::zeros({3}, at::kDouble)}), "empty items");
  require_equal(max_pool(x.slice(0, 0, 0), longs({0, 0, 0})), at::zeros({2, 3}, at::kDouble), "nothing");
  const at::Tensor columns = normal({3, 12}, 2);
  require_equal(max_pool(columns.t(), longs({0, 6, 12})), max_pool(columns.t().contiguous(), longs({0, 6, 12})),
                "strided");
  require_error([&] { max_pool(x, longs({0, 11})); }, {"ptr"});
}

TEST_CASE("max_pool differentiates equal and ragged items alike", "[max_pool]") {
  for (const auto& ptr : {longs({0, 4, 8}), longs({0, 0, 3, 8})}) {
    require_gradcheck([&](const std::vector<at::Tensor>& in) { return max_pool(in[0], ptr); }, {normal({8, 3}, 3)});
  }
}

TEST_CASE("max_pool gives the gradient to the first of equal rows, and refuses it twice", "[max_pool]") {
  const at::Tensor x = at::tensor({1.0, 2.0, 2.0, 0.0}).view({4, 1}).requires_grad_(true);
  max_pool(x, longs({0, 3, 4})).backward(at::tensor({5.0, 7.0}).view({2, 1}));
  require_equal(x.grad(), at::tensor({0.0, 5.0, 0.0, 7.0}).view({4, 1}), "gradient");
  require_no_double_backward(
      [&](const Tensors& in) {
        return max_pool(in[0], longs({0, 3, 8}));
      },
      {normal({8, 3}, 3)}, "max_pool");
}

TEST_CASE("max_pool of NaN is NaN, and half types are compared as they are", "[max_pool]") {
  at::Tensor x = at::zeros({4, 2});
  x[1][0] = std::nan("");
  x[2][0] = 3.0;
  const at::Tensor out = max_pool(x, longs({0, 4}));
  REQUIRE(std::isnan(out[0][0].item<double>()));
  REQUIRE(out[0][1].item<double>() == 0);
  const at::Tensor wide = normal({9, 20}, 4), ptr = longs({0, 2, 9});
  for (const at::ScalarType half : {at::kHalf, at::kBFloat16}) {
    const at::Tensor narrow = wide.to(half);
    require_equal(max_pool(narrow, ptr), max_pool(narrow.to(at::kDouble), ptr).to(half), "half");
  }
}

TEST_CASE("max_pool has the same bits on one thread and on two", "[max_pool]") {
  const at::Tensor x = at::randn({9000, 24}, generator(5)), ptr = longs({0, 2000, 2001, 7000, 9000});
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = max_pool(x, ptr);
  at::set_num_threads(2);
  require_equal(max_pool(x, ptr), one, "threads");
  at::set_num_threads(before);
}

TEST_CASE("max_pool names the argument that is wrong", "[max_pool]") {
  require_error([] { max_pool(at::ones({4}), std::nullopt); }, {"x must be [N, d]", "[4]"});
  require_error([] { max_pool(at::ones({4, 2}, at::kLong), std::nullopt); }, {"x must be", "Long"});
  require_error([] { max_pool(at::ones({4, 2}), at::ones({2})); }, {"ptr"});
}

}  // namespace geosft::test::test_max_pool
