// SPDX-License-Identifier: Apache-2.0
#include "models/ops/composite_gradient.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>

#include <catch2/catch.hpp>

#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_composite_gradient {
namespace {

at::Tensor product(const std::vector<at::Tensor>& in) {
  return in[0] * in[1].square().unsqueeze(1);
}

}  // namespace

TEST_CASE("formulas are differentiated where autograd is switched off", "[composite_gradient]") {
  // Measured: the same bits where 1e-14 is allowed.
  const at::Tensor x = normal({4, 3}, 1), y = normal({4}, 2), grad = normal({4, 3}, 3);
  const auto check = [&] {
    const std::vector<at::Tensor> gradients = composite_gradients(grad, {x, y}, product);
    REQUIRE(gradients.size() == 2);
    require_close(gradients[0], grad * y.square().unsqueeze(1), 1e-14, "of x");
    require_close(gradients[1], 2 * y * (grad * x).sum(1), 1e-14, "of y");
    CHECK((!gradients[0].requires_grad() && gradients[0].is_contiguous()));
  };
  check();
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowADInplaceOrView below;
  check();
}

TEST_CASE("what a formula does not depend on has a gradient of zeros", "[composite_gradient]") {
  const at::Tensor x = normal({4}, 1), grad = normal({4}, 3);
  const auto first = [](const std::vector<at::Tensor>& in) { return in[0] * 2; };
  const std::vector<at::Tensor> gradients = composite_gradients(grad, {x, x.to(at::kFloat)}, first);
  require_equal(gradients[0], 2 * grad, "used");
  require_equal(gradients[1], at::zeros({4}, at::kFloat), "not used");
  const auto constant = [](const std::vector<at::Tensor>& in) { return at::ones_like(in[0]); };
  require_equal(composite_gradients(grad, {x}, constant)[0], at::zeros_like(x), "constant");
}

TEST_CASE("gradients of points are empty without normals", "[composite_gradient]") {
  const at::Tensor points = normal({5, 3}, 1), grad = normal({5, 3}, 3);
  const auto same = [](const at::Tensor& p, const at::Tensor& n) { return n.defined() ? p * n : p * 3; };
  const auto [alone, none] = point_gradients(grad, points, std::nullopt, same);
  require_equal(alone, 3 * grad, "points");
  CHECK((none.numel() == 0 && std::get<1>(point_gradients_meta(points, std::nullopt)).numel() == 0));
  const auto [of_points, of_normals] = point_gradients(grad, points, points + 1, same);
  require_equal(of_points, grad * (points + 1), "points");
  require_equal(of_normals, grad * points, "normals");
}

TEST_CASE("inputs need a gradient where they require one and it is not switched off", "[composite_gradient]") {
  const at::Tensor x = at::ones({2}), tracked = at::ones({2}).requires_grad_(true);
  CHECK((!needs_gradient({x, at::Tensor()}) && needs_gradient({x, tracked})));
  const at::NoGradGuard no_grad;
  CHECK_FALSE(needs_gradient({x, tracked}));
}

}  // namespace geosft::test::test_composite_gradient
