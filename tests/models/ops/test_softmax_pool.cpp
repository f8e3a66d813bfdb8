// SPDX-License-Identifier: Apache-2.0
#include "models/ops/softmax_pool.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "models/ops/cpu/simd.h"
#include "tests/models/ops/softmax_pool_bounds.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_softmax_pool {
namespace {

at::Tensor slow(const at::Tensor& x, const at::Tensor& u, const at::Tensor& ptr) {
  std::vector<at::Tensor> rows;
  for (int64_t b = 0; b + 1 < ptr.size(0); ++b) {
    const at::Tensor item = x.slice(0, ptr[b].item<int64_t>(), ptr[b + 1].item<int64_t>());
    rows.push_back(at::matmul(at::softmax(at::mv(item, u), 0), item));  // of no rows: zeros
  }
  return at::stack(rows, 0);
}

struct Case {
  at::Tensor x, u, grad_output;

  Case(int64_t rows, int64_t width, int64_t items)
      : x(at::randn({rows, width}, generator(1), at::kDouble)),
        u(at::randn({width}, generator(2), at::kDouble)),
        grad_output(at::randn({items, width}, generator(3), at::kDouble)) {}
};

struct Outcome {
  at::Tensor out, x_grad, u_grad;
};

template <class Pool>
Outcome evaluate(const Pool& pool, const Case& c, at::ScalarType dtype) {
  const at::Tensor x = c.x.to(dtype).clone().requires_grad_(true), u = c.u.to(dtype).clone().requires_grad_(true);
  const at::Tensor out = pool(x, u);
  out.backward(c.grad_output.to(dtype));
  return {out.detach(), x.grad(), u.grad()};
}

void require_alike(const Outcome& actual, const Outcome& expected, double tolerance, const std::string& what) {
  require_close(actual.out, expected.out, tolerance, what + " out");
  require_close(actual.x_grad, expected.x_grad, tolerance, what + " gradient of x");
  require_close(actual.u_grad, expected.u_grad, tolerance, what + " gradient of u");
}

}  // namespace

TEST_CASE("softmax_pool reproduces the golden case", "[softmax_pool]") {
  // Measured: 2.8e-16 of 1e-10, 9.0e-8 of 5e-6, 3.7e-7 of 2e-5 that are allowed.
  const Fixture fixture("softmax_pool");
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const bool wide = dtype == at::kDouble;
    const at::Tensor x = fixture.get("x", dtype).clone().requires_grad_(true);
    const at::Tensor u = fixture.get("u", dtype).clone().requires_grad_(true);
    const at::Tensor out = softmax_pool(x, u, fixture.get("ptr"));
    out.backward(fixture.get("grad_out", dtype));
    require_close(out, fixture.get("out"), wide ? 1e-10 : 5e-6, "out");
    require_close(x.grad(), fixture.get("grad.x"), wide ? 1e-10 : 2e-5, "gradient of x");
    require_close(u.grad(), fixture.get("grad.u"), wide ? 1e-10 : 2e-5, "gradient of u");
  }
}

TEST_CASE("softmax_pool of huge logits and of empty items", "[softmax_pool]") {
  // Measured: 1.5e-16 where 1e-14 is allowed.
  const at::Tensor x = at::tensor({1000.0, 2000.0, -3000.0, -2999.0}, at::kDouble).view({4, 1});
  const at::Tensor u = at::ones({1}, at::kDouble);
  const at::Tensor out = softmax_pool(x, u, longs({0, 0, 2, 4, 4}));
  const double second = (-3000.0 + -2999.0 * std::exp(1.0)) / (1 + std::exp(1.0));
  require_close(out, at::tensor({0.0, 2000.0, second, 0.0}, at::kDouble).view({4, 1}), 1e-14, "out");
  REQUIRE(softmax_pool(x, u, std::nullopt).sizes() == at::IntArrayRef({1, 1}));
}

TEST_CASE("softmax_pool agrees with the reference on every vector target", "[softmax_pool]") {
  // Each element is held to the bounds of its rounding and of the reference's, and to a tenth of them: over 1,000 seeds
  // at most 0.045 of the bounds was measured in float32, and 0.025 in float64, so that there is a factor of two left.
  constexpr double measured = 0.1;
  for (const auto& [width, ptr] : {std::pair(1, longs({0, 3})), std::pair(17, longs({0, 0, 1, 9, 9})),
                                   std::pair(64, longs({0, 1300, 1812, 1813})), std::pair(33, longs({0, 512, 1025}))}) {
    for (const auto& [type, unit] : {std::pair(at::kDouble, 0x1p-53), std::pair(at::kFloat, 0x1p-24)}) {
      Case c(ptr[-1].item<int64_t>(), width, ptr.size(0) - 1);
      for (at::Tensor* tensor : {&c.x, &c.u, &c.grad_output}) *tensor = tensor->to(type).to(at::kDouble);
      const Outcome expected = evaluate([&](auto& x, auto& u) { return slow(x, u, ptr); }, c, at::kDouble);
      const auto bounds = softmax_pool_bounds(c.x, c.u, ptr, c.grad_output, unit + 0x1p-53);
      for (const std::string& target : simd_target_names()) {
        force_simd_target(target);
        const Outcome actual = evaluate([&](auto& x, auto& u) { return softmax_pool(x, u, ptr); }, c, type);
        const std::string what = target + (type == at::kFloat ? " float32" : " float64");
        require_within(actual.out, expected.out, bounds[0], what + " out", measured);
        require_within(actual.x_grad, expected.x_grad, bounds[1], what + " gradient of x", measured);
        require_within(actual.u_grad, expected.u_grad, bounds[2], what + " gradient of u", measured);
      }
      force_simd_target("");
    }
  }
}

TEST_CASE("softmax_pool takes float16 and bfloat16", "[softmax_pool]") {
  // Measured over 1,000 seeds, at most: 4.8e-4 where 0.002 is allowed, and 3.9e-3 where 0.02 is allowed.
  const at::Tensor ptr = longs({0, 5, 40});
  for (const auto& [type, tolerance] : {std::pair(at::kHalf, 2e-3), std::pair(at::kBFloat16, 2e-2)}) {
    Case c(40, 8, 2);
    for (at::Tensor* tensor : {&c.x, &c.u, &c.grad_output}) *tensor = tensor->to(type).to(at::kDouble);
    const Outcome actual = evaluate([&](auto& x, auto& u) { return softmax_pool(x, u, ptr); }, c, type);
    REQUIRE(actual.out.scalar_type() == type);
    REQUIRE(actual.x_grad.scalar_type() == type);
    const Outcome expected = evaluate([&](auto& x, auto& u) { return slow(x, u, ptr); }, c, at::kDouble);
    require_alike(actual, expected, tolerance, "half");
  }
}

TEST_CASE("softmax_pool has the same bits on one thread and on two", "[softmax_pool]") {
  const Case c(3000, 24, 2);
  const auto fused = [](auto& x, auto& u) { return softmax_pool(x, u, longs({0, 2900, 3000})); };
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Outcome one = evaluate(fused, c, at::kFloat);
  at::set_num_threads(2);
  const Outcome two = evaluate(fused, c, at::kFloat);
  at::set_num_threads(before);
  require_equal(two.out, one.out, "out");
  require_equal(two.x_grad, one.x_grad, "gradient of x");
  require_equal(two.u_grad, one.u_grad, "gradient of u");
}

TEST_CASE("softmax_pool has the right gradients and refuses them twice", "[softmax_pool]") {
  const Case c(9, 3, 3);
  const auto pool = [](const std::vector<at::Tensor>& in) { return softmax_pool(in[0], in[1], longs({0, 4, 4, 9})); };
  require_gradcheck(pool, {c.x, c.u});
  require_no_double_backward(pool, {c.x, c.u}, "softmax_pool");
}

TEST_CASE("softmax_pool takes strided rows and passes NaN on", "[softmax_pool]") {
  const at::Tensor wide = at::randn({6, 14}, generator(4)), u = at::randn({7}, generator(5));
  const at::Tensor x = wide.slice(1, 0, 14, 2);
  require_equal(softmax_pool(x, u), softmax_pool(x.contiguous(), u), "strided");
  at::Tensor broken = x.contiguous().clone();
  broken[2][3] = std::nan("");
  const at::Tensor out = softmax_pool(broken, u, longs({0, 2, 6}));
  REQUIRE(out[0].isfinite().all().item<bool>());
  REQUIRE(out[1].isnan().all().item<bool>());
}

TEST_CASE("softmax_pool names the argument that is wrong", "[softmax_pool]") {
  const at::Tensor x = at::zeros({4, 3}), u = at::zeros({3});
  require_error([&] { softmax_pool(x.view({12}), u); }, {"x must be [N, d]"});
  require_error([&] { softmax_pool(x.to(at::kLong), u.to(at::kLong)); }, {"x must be float32"});
  require_error([&] { softmax_pool(x, at::zeros({4})); }, {"u must be [d]", "[4]"});
  require_error([&] { softmax_pool(x, u.to(at::kDouble)); }, {"u must have the dtype of x"});
  require_error([&] { softmax_pool(x, u, longs({0, 3})); }, {"ptr"});
  require_error([&] { softmax_pool(x, u, longs({0, 3, 2, 4})); }, {"ptr"});
}

}  // namespace geosft::test::test_softmax_pool
