// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/gather_pairs_kernel.cuh"

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/gather_pairs.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/guarded_memory.h"
#include "tests/support.h"

namespace geosft::test::test_gather_pairs_kernel {
namespace {

constexpr auto run = [](const auto& in) { cuda::run_grids(in, EmulatedGrids<ThreadOrder::kAscending>()); };

}  // namespace

TEST_CASE("the CUDA kernels of gather_pairs, emulated, agree with the CPU", "[gather_pairs_kernel]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf}) {
    const at::Tensor x = at::randn({40, 3, 7}, generator(1), at::kDouble).to(type).requires_grad_(true);
    const at::Tensor weight = at::rand({23}, generator(2)).requires_grad_(true);
    const at::Tensor top = at::randint(40, {23}, generator(3), at::kLong);
    const at::Tensor partner = at::randint(40, {23}, generator(4), at::kLong);
    const at::Tensor expected = gather_pairs(x, top, partner, weight);
    const at::Tensor grad = at::randn({23, 3, 7}, generator(5)).to(expected.scalar_type());
    const auto gradients = torch::autograd::grad({expected}, {x, weight}, {grad});
    const at::Tensor actual = cuda::gathered_pairs(x.detach(), top, partner, weight.detach(), run);
    REQUIRE(actual.scalar_type() == expected.scalar_type());
    // The CPU rounds to half precision between its operators.
    require_close(actual, expected, type == at::kHalf ? 2e-3 : 1e-6, "out");
    const auto [x_grad, weight_grad] =
        cuda::gathered_backward(grad, x.detach(), top, partner, weight.detach(), {}, run);
    require_close(x_grad, gradients[0], type == at::kHalf ? 2e-3 : 1e-5, "gradient of x");
    require_close(weight_grad, gradients[1], type == at::kHalf ? 2e-3 : 1e-4, "gradient of weight");
  }
}

TEST_CASE("the CUDA kernels of gather_pairs, emulated, compute half types in float32", "[gather_pairs_kernel]") {
  const at::Tensor top = at::randint(50, {19}, generator(11), at::kLong);
  const at::Tensor partner = at::randint(50, {19}, generator(12), at::kLong);
  for (const at::ScalarType half : {at::kHalf, at::kBFloat16}) {
    const at::Tensor x = at::randn({50, 70}, generator(13)).to(half), weight = at::rand({19}, generator(14)).to(half);
    const at::Tensor grad = at::randn({19, 70}, generator(15)).to(half);
    const at::Tensor wide_x = x.to(at::kFloat), wide_weight = weight.to(at::kFloat), wide_grad = grad.to(at::kFloat);
    require_equal(cuda::gathered_pairs(x, top, partner, weight, run),
                  cuda::gathered_pairs(wide_x, top, partner, wide_weight, run).to(half), "out");
    const auto [x_grad, weight_grad] = cuda::gathered_backward(grad, x, top, partner, weight, {}, run);
    const auto [wide_x_grad, wide_weight_grad] =
        cuda::gathered_backward(wide_grad, wide_x, top, partner, wide_weight, {}, run);
    require_equal(x_grad, wide_x_grad.to(half), "gradient of x");
    require_equal(weight_grad, wide_weight_grad.to(half), "gradient of weight");
  }
  const at::Tensor x = at::randn({50, 3}, generator(16)).to(at::kHalf);
  const at::Tensor weight = at::rand({19}, generator(17), at::TensorOptions().dtype(at::kDouble));
  require_equal(cuda::gathered_pairs(x, top, partner, weight, run),
                cuda::gathered_pairs(x.to(at::kDouble), top, partner, weight, run), "beside float64");
}

TEST_CASE("the CUDA kernels of gather_pairs, emulated, compute only the requested gradients", "[gather_pairs_kernel]") {
  const at::Tensor x = at::randn({9, 5}, generator(18)), weight = at::rand({4}, generator(19));
  const at::Tensor top = at::randint(9, {4}, generator(20), at::kLong), partner = top.flip(0);
  const at::Tensor grad = at::randn({4, 5}, generator(21));
  const auto [x_grad, weight_grad] = cuda::gathered_backward(grad, x, top, partner, weight, {}, run);
  const auto of_x = cuda::gathered_backward(grad, x, top, partner, weight, {true, false}, run);
  const auto of_weight = cuda::gathered_backward(grad, x, top, partner, weight, {false, true}, run);
  require_equal(std::get<0>(of_x), x_grad, "of x alone");
  require_equal(std::get<1>(of_weight), weight_grad, "of weight alone");
  REQUIRE_FALSE(std::get<1>(of_x).defined());
  REQUIRE_FALSE(std::get<0>(of_weight).defined());
}

TEST_CASE("the CUDA kernels of gather_pairs, emulated, refuse types that they do not read", "[gather_pairs_kernel]") {
  const at::Tensor row = at::zeros({4}, at::kLong), x = at::ones({3, 2}), weight = at::ones({4});
  const at::Tensor eighth = x.to(at::kFloat8_e5m2);
  require_error([&] { cuda::gathered_pairs(eighth, row, row, weight, run); }, {"x", "float16", "Float8"});
  require_error([&] { cuda::gathered_pairs(x, row, row, weight.to(at::kFloat8_e5m2), run); }, {"weight", "Float8"});
  require_error(
      [&] {
        cuda::gathered_backward(at::ones({4, 2}).to(at::kFloat8_e5m2), x, row, row, weight, {}, run);
      },
      {"cannot read", "Float8"});
}

TEST_CASE("the CUDA kernels of gather_pairs, emulated, accept zero samples and refuse indices into an empty x",
          "[gather_pairs_kernel]") {
  const at::Tensor none = at::zeros({0}, at::kLong), x = at::ones({3, 2});
  REQUIRE(cuda::gathered_pairs(x, none, none, at::ones({0}), run).sizes() == at::IntArrayRef({0, 2}));
  require_equal(std::get<0>(cuda::gathered_backward(at::ones({0, 2}), x, none, none, at::ones({0}), {}, run)),
                at::zeros({3, 2}), "no gradient");
  const at::Tensor some = at::tensor({0, 1}, at::kLong);
  require_error([&] { cuda::gathered_pairs(at::ones({0, 2}), some, some, at::ones({2}), run); }, {"x"});
}

TEST_CASE("the CUDA kernels of gather_pairs, emulated, stay inside the arrays whatever the indices",
          "[gather_pairs_kernel]") {
  with_guarded_memory([] {
    const at::Tensor x = at::ones({3, 2}), wrong = at::tensor({int64_t{-5}, int64_t{1000}, INT64_MAX, INT64_MIN});
    require_equal(cuda::gathered_pairs(x, wrong, wrong, at::ones({4}), run), at::ones({4, 2}), "clamped");
    const auto [x_grad, weight_grad] =
        cuda::gathered_backward(at::ones({4, 2}), x, wrong, wrong, at::ones({4}), {}, run);
    require_equal(x_grad, at::tensor({2.0F, 2.0F, 0.0F, 0.0F, 2.0F, 2.0F}).view({3, 2}), "gradient of x");
    require_equal(weight_grad, at::zeros({4}), "gradient of weight");
  });
}

TEST_CASE("the CUDA kernels of gather_pairs, emulated, clamp indices that are out of range", "[gather_pairs_kernel]") {
  const at::Tensor x = at::randn({6, 3}, generator(6)), weight = at::rand({4}, generator(7));
  const at::Tensor top = at::tensor({-5, 2, 6, 1000}, at::kLong), partner = at::tensor({3, -1, 7, 0}, at::kLong);
  const at::Tensor near_top = top.clamp(0, 5), near_partner = partner.clamp(0, 5);
  const at::Tensor grad = at::randn({4, 3}, generator(8));
  require_equal(cuda::gathered_pairs(x, top, partner, weight, run),
                cuda::gathered_pairs(x, near_top, near_partner, weight, run), "out");
  const auto [x_grad, weight_grad] = cuda::gathered_backward(grad, x, top, partner, weight, {}, run);
  const auto [near_x, near_weight] = cuda::gathered_backward(grad, x, near_top, near_partner, weight, {}, run);
  require_equal(x_grad, near_x, "gradient of x");
  require_equal(weight_grad, near_weight, "gradient of weight");
  require_error([&] { cuda::gathered_backward(grad, x.slice(0, 0, 0), top, partner, weight, {}, run); }, {"x"});
}

}  // namespace geosft::test::test_gather_pairs_kernel
