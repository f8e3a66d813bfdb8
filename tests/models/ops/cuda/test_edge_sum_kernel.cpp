// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/edge_sum_kernel.cuh"

#include <catch2/catch.hpp>

#include "models/ops/cuda/edge_sum_host.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/guarded_memory.h"
#include "tests/models/ops/edge_cases.h"

namespace geosft::test::test_edge_sum_kernel {
namespace {

using Tensors = std::vector<at::Tensor>;
using Optional = std::optional<at::Tensor>;

// out, the gradient of x and that of edge.
template <ThreadOrder kOrder>
Tensors emulated(const at::Tensor& x, const EdgeIndex& index, const Optional& edge, const Optional& scale, bool relu,
                 const at::Tensor& grad) {
  const auto run = [](const auto& in) { cuda::run_grids(in, EmulatedGrids<kOrder>()); };
  const at::Tensor out = cuda::edge_sum_forward(x, edge, scale, index.rowptr, index.col, relu, run);
  const auto [x_grad, edge_grad] =
      cuda::edge_sum_backward(grad, x, edge, scale, index.row, index.colptr, index.order, relu, run);
  return edge ? Tensors{out, x_grad, edge_grad} : Tensors{out, x_grad};
}

}  // namespace

TEST_CASE("the CUDA kernels of edge_sum, emulated, agree with the CPU", "[edge_sum_kernel]") {
  const RandomEdges edges(13, 9, 40, 3);
  const EdgeIndex index = edges.index();
  for (const int64_t width : {1, 70}) {
    const at::Tensor grad = normal({13, width}, 14);
    for (const bool has_edge : {false, true}) {
      for (const bool relu : {false, true}) {
        Tensors inputs{normal({9, width}, 11)};
        if (has_edge) inputs.push_back(normal({40, width}, 12));
        const Optional scale = relu ? std::nullopt : Optional(normal({40}, 13));
        const auto call = [&](const Tensors& in) {
          return Tensors{edge_sum(in[0], index, has_edge ? Optional(in[1]) : std::nullopt, scale, relu)};
        };
        const Tensors expected = outputs_and_gradients(call, inputs, {grad}, at::kDouble);
        const auto actual = [&](auto order, at::ScalarType type) {
          return emulated<decltype(order)::value>(
              inputs[0].to(type), index, has_edge ? Optional(inputs[1].to(type)) : std::nullopt,
              scale ? Optional(scale->to(type)) : std::nullopt, relu, grad.to(type));
        };
        using Up = std::integral_constant<ThreadOrder, ThreadOrder::kAscending>;
        using Down = std::integral_constant<ThreadOrder, ThreadOrder::kDescending>;
        require_all_close(actual(Up(), at::kDouble), expected, 1e-12, "float64");
        require_all_close(actual(Up(), at::kFloat), expected, 2e-6, "float32");
        require_all_equal(actual(Down(), at::kFloat), actual(Up(), at::kFloat), "other order");
      }
    }
  }
}

TEST_CASE("the CUDA kernels of edge_sum, emulated, stay inside the arrays whatever the index", "[edge_sum_kernel]") {
  with_guarded_memory([] {
    const at::Tensor x = at::ones({3, 2}), edge = at::ones({4, 2});
    emulated<ThreadOrder::kAscending>(x, wild_index(), edge, at::ones({4}), true, at::ones({2, 2}));
  });
  const EdgeIndex none = edge_index(at::zeros({1}, at::kLong), at::zeros({0}, at::kLong), 0);
  REQUIRE(emulated<ThreadOrder::kAscending>(at::ones({0, 2}), none, {}, {}, false, at::ones({0, 2}))[0].numel() == 0);
  const EdgeIndex lost = RandomEdges(2, 2, 3, 1).index();
  require_error(
      [&] {
        emulated<ThreadOrder::kAscending>(at::ones({0, 2}), lost, {}, {}, false, at::ones({2, 2}));
      },
      {"x must have the rows"});
}

}  // namespace geosft::test::test_edge_sum_kernel
