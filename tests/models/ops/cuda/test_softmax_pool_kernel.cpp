// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/softmax_pool_kernel.cuh"

#include <catch2/catch.hpp>

#include "models/ops/cuda/softmax_pool_host.h"
#include "models/ops/softmax_pool.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/ops/softmax_pool_bounds.h"
#include "tests/support.h"

namespace geosft::test::test_softmax_pool_kernel {
namespace {

// The result, d x and d u for an output gradient.
template <ThreadOrder kOrder>
std::vector<at::Tensor> emulated(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr,
                                 const at::Tensor& grad_output) {
  const EmulatedGrids<kOrder> grids;
  const auto [out, log_sum] = cuda::pool_forward(x, u, ptr, [&](const auto& in) { cuda::run_grids(in, grids); });
  const auto [x_grad, u_grad] =
      cuda::pool_backward(grad_output, out, log_sum, x, u, ptr, [&](const auto& in) { cuda::run_grids(in, grids); });
  return {out, x_grad, u_grad};
}

// The CPU operator in double precision.
std::vector<at::Tensor> expected(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr,
                                 const at::Tensor& grad_output) {
  const at::Tensor rows = x.to(at::kDouble).clone().requires_grad_(true);
  const at::Tensor vector = u.to(at::kDouble).clone().requires_grad_(true);
  const at::Tensor out = softmax_pool(rows, vector, ptr);
  out.backward(grad_output.to(at::kDouble));
  return {out.detach(), rows.grad(), vector.grad()};
}

void require_pool(const std::vector<int64_t>& ptr, int64_t width, const std::string& what) {
  const at::Tensor offsets = at::tensor(ptr, at::kLong);
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor x_wide = at::randn({ptr.back(), width}, generator(1), options),
                   u_wide = at::randn({width}, generator(2), options);
  const at::Tensor grad_wide = at::randn({offsets.size(0) - 1, width}, generator(3), options);
  for (const auto& [type, unit] : {std::pair(at::kDouble, 0x1p-53), std::pair(at::kFloat, 0x1p-24)}) {
    const at::Tensor x = x_wide.to(type), u = u_wide.to(type), grad_output = grad_wide.to(type);
    const auto actual = emulated<ThreadOrder::kAscending>(x, u, offsets, grad_output);
    const auto turned = emulated<ThreadOrder::kDescending>(x, u, offsets, grad_output);
    const auto reference = expected(x, u, offsets, grad_output);
    const auto wide = [](const at::Tensor& tensor) { return tensor.to(at::kDouble); };
    const auto bounds = softmax_pool_bounds(wide(x), wide(u), offsets, wide(grad_output), unit + 0x1p-53);
    for (size_t i = 0; i < reference.size(); ++i) {
      require_within(actual[i], reference[i], bounds[i], what);
      require_equal(turned[i], actual[i], what + " other order");
    }
  }
}

}  // namespace

TEST_CASE("the CUDA kernels of softmax_pool, emulated, agree with the CPU", "[softmax_pool_kernel]") {
  require_pool({0, 1}, 1, "one row");
  require_pool({0, 5, 5, 1300, 1812, 1813}, 11, "ragged");
  require_pool({0, 600}, 260, "wide");
}

TEST_CASE("the CUDA kernels of softmax_pool, emulated, take one item without ptr, and half precision",
          "[softmax_pool_kernel]") {
  const at::Tensor x = at::randn({40, 6}, generator(4)), u = at::randn({6}, generator(5)),
                   grad_output = at::ones({1, 6});
  const auto reference = expected(x.to(at::kBFloat16), u.to(at::kBFloat16), std::nullopt, grad_output);
  const auto actual =
      emulated<ThreadOrder::kAscending>(x.to(at::kBFloat16), u.to(at::kBFloat16), std::nullopt, grad_output);
  for (size_t i = 0; i < reference.size(); ++i) require_close(actual[i], reference[i], 2e-2, "bfloat16");
  REQUIRE(actual[1].scalar_type() == at::kBFloat16);
}

TEST_CASE("the CUDA kernels of softmax_pool, emulated, compute half types in float32", "[softmax_pool_kernel]") {
  const at::Tensor ptr = at::tensor({0, 5, 5, 700}, at::kLong), grad_output = at::randn({3, 11}, generator(7));
  for (const at::ScalarType half : {at::kHalf, at::kBFloat16}) {
    const at::Tensor x = at::randn({700, 11}, generator(8)).to(half), u = at::randn({11}, generator(9)).to(half);
    const auto actual = emulated<ThreadOrder::kAscending>(x, u, ptr, grad_output);
    const auto wide = emulated<ThreadOrder::kAscending>(x.to(at::kFloat), u.to(at::kFloat), ptr, grad_output);
    require_equal(actual[0], wide[0], "out");
    require_equal(actual[1], wide[1].to(half), "gradient of x");
    require_equal(actual[2], wide[2].to(half), "gradient of u");
  }
}

TEST_CASE("the CUDA kernels of softmax_pool, emulated, do not overflow", "[softmax_pool_kernel]") {
  const at::Tensor x = 500 * at::randn({700, 3}, generator(6)), u = at::ones({3}), grad_output = at::ones({1, 3});
  for (const at::Tensor& tensor : emulated<ThreadOrder::kAscending>(x, u, std::nullopt, grad_output)) {
    REQUIRE(tensor.isfinite().all().item<bool>());
  }
}

}  // namespace geosft::test::test_softmax_pool_kernel
