// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/gather_pairs_tile.h"

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "models/ops/cuda/gather_pairs_host.h"
#include "models/ops/gather_pairs.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/support.h"

namespace geosft::test::test_gather_pairs_tile {
namespace {

constexpr auto run = [](const auto& in) { cuda::gather_grids(in, EmulatedGrids<ThreadOrder::kAscending>()); };

}  // namespace

TEST_CASE("the CUDA kernels of gather_pairs, emulated, agree with the CPU", "[gather_pairs_tile]") {
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
    const auto [x_grad, weight_grad] = cuda::gathered_backward(grad, x.detach(), top, partner, weight.detach(), run);
    require_close(x_grad, gradients[0], type == at::kHalf ? 2e-3 : 1e-5, "gradient of x");
    require_close(weight_grad, gradients[1], type == at::kHalf ? 2e-3 : 1e-4, "gradient of weight");
  }
}

TEST_CASE("the CUDA kernels of gather_pairs, emulated, take no bins and stay inside x", "[gather_pairs_tile]") {
  const at::Tensor none = at::zeros({0}, at::kLong), x = at::ones({3, 2});
  REQUIRE(cuda::gathered_pairs(x, none, none, at::ones({0}), run).sizes() == at::IntArrayRef({0, 2}));
  require_equal(std::get<0>(cuda::gathered_backward(at::ones({0, 2}), x, none, none, at::ones({0}), run)),
                at::zeros({3, 2}), "no gradient");
  const at::Tensor wrong = at::tensor({-5, 1000}, at::kLong);
  require_equal(cuda::gathered_pairs(x, wrong, wrong, at::ones({2}), run), at::ones({2, 2}), "clamped");
  require_error([&] { cuda::gathered_pairs(at::ones({0, 2}), wrong, wrong, at::ones({2}), run); }, {"x"});
}

}  // namespace geosft::test::test_gather_pairs_tile
