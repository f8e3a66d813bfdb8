// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/max_pool_kernel.cuh"

#include <catch2/catch.hpp>

#include "models/ops/cuda/max_pool_host.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/guarded_memory.h"
#include "tests/models/ops/edge_cases.h"

namespace geosft::test::test_max_pool_kernel {
namespace {

using Tensors = std::vector<at::Tensor>;

// out and the gradient of x.
template <ThreadOrder kOrder>
Tensors emulated(const at::Tensor& x, const std::optional<at::Tensor>& ptr, const at::Tensor& grad) {
  const auto run = [](const auto& in) { cuda::run_grids(in, EmulatedGrids<kOrder>()); };
  const auto [out, row] = cuda::max_pool_forward(x, ptr, run);
  return {out, cuda::max_pool_backward(grad, row, x.size(0), run)};
}

}  // namespace

TEST_CASE("the CUDA kernels of max_pool, emulated, agree with the CPU", "[max_pool_kernel]") {
  const at::Tensor ptr = at::tensor({0, 0, 5, 6, 13}, at::kLong);
  for (const int64_t width : {1, 70}) {
    const at::Tensor x = normal({13, width}, 1), grad = normal({4, width}, 2);
    const auto call = [&](const Tensors& in) { return Tensors{max_pool(in[0], ptr)}; };
    for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kHalf}) {
      const Tensors expected = outputs_and_gradients(call, {x}, {grad}, type);
      require_all_equal(emulated<ThreadOrder::kAscending>(x.to(type), ptr, grad.to(type)), expected, "ascending");
      require_all_equal(emulated<ThreadOrder::kDescending>(x.to(type), ptr, grad.to(type)), expected, "descending");
    }
    const at::Tensor one = emulated<ThreadOrder::kAscending>(x, std::nullopt, grad.slice(0, 0, 1))[0];
    require_equal(one, max_pool(x, std::nullopt), "one item");
  }
}

TEST_CASE("the CUDA kernels of max_pool, emulated, stay inside the arrays whatever the offsets", "[max_pool_kernel]") {
  with_guarded_memory([] {
    const at::Tensor x = at::ones({3, 2}), grad = at::ones({3, 2});
    const auto run = [](const auto& in) { cuda::run_grids(in, EmulatedGrids<ThreadOrder::kAscending>()); };
    cuda::max_pool_forward(x, at::tensor({int64_t{-5}, INT64_MAX, int64_t{1}, INT64_MIN}), run);
    cuda::max_pool_backward(grad, at::full({3, 2}, INT64_MAX, at::kLong), 3, run);
    cuda::max_pool_backward(grad, at::full({3, 2}, INT64_MIN, at::kLong), 3, run);
    cuda::max_pool_backward(grad, at::zeros({3, 2}, at::kLong), 0, run);
    for (const at::Tensor& given : {x, grad}) require_equal(given, at::ones_like(given), "an argument");
  });
}

}  // namespace geosft::test::test_max_pool_kernel
