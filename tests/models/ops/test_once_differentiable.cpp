// SPDX-License-Identifier: Apache-2.0
#include "models/ops/once_differentiable.h"

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_once_differentiable {

TEST_CASE("once_differentiable passes values on and refuses to differentiate them", "[double_backward]") {
  const at::Tensor x = at::ones({2}).requires_grad_(true), index = at::zeros({2}, at::kLong);
  const auto results = once_differentiable("some_op", {x, index, at::Tensor()}, [&] {
    return std::vector<at::Tensor>{x * 2, x * 3};
  });
  REQUIRE(results.size() == 2);
  require_equal(results[1].detach(), at::full({2}, 3.0f), "value");
  require_error([&] { torch::autograd::grad({results[0].sum()}, {x}); }, {"double backward of some_op"});
}

TEST_CASE("once_differentiable records nothing where no gradient is asked for", "[double_backward]") {
  const at::Tensor x = at::ones({2});
  const auto results = once_differentiable("some_op", {x}, [&] { return std::vector<at::Tensor>{x * 2}; });
  REQUIRE_FALSE(results[0].requires_grad());
}

TEST_CASE("once_differentiable leaves what is undefined as it is", "[double_backward]") {
  for (const bool recorded : {true, false}) {
    const at::Tensor x = at::ones({2}).requires_grad_(recorded);
    const auto results = once_differentiable("some_op", {x}, [&] {
      return std::vector<at::Tensor>{at::Tensor(), x * 3};
    });
    REQUIRE(results.size() == 2);
    REQUIRE_FALSE(results[0].defined());
    require_equal(results[1].detach(), at::full({2}, 3.0f), "value");
    REQUIRE(results[1].requires_grad() == recorded);
    if (recorded) require_error([&] { torch::autograd::grad({results[1].sum()}, {x}); }, {"double backward"});
  }
}

}  // namespace geosft::test::test_once_differentiable
