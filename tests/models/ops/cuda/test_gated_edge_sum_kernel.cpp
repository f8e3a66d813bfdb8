// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/gated_edge_sum_kernel.cuh"

#include <catch2/catch.hpp>

#include "models/ops/cuda/gated_edge_sum_host.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/guarded_memory.h"
#include "tests/models/ops/edge_cases.h"

namespace geosft::test::test_gated_edge_sum_kernel {
namespace {

using Tensors = std::vector<at::Tensor>;

// out and gate, then the gradients of query, key, value and edge.
template <ThreadOrder kOrder>
Tensors emulated(const Tensors& in, const Tensors& grads, const EdgeIndex& index, at::ScalarType type) {
  const auto run = [](const auto& call) { cuda::run_grids(call, EmulatedGrids<kOrder>()); };
  const auto as = [&](const at::Tensor& tensor) { return tensor.to(type); };
  const auto [out, gate, total] =
      cuda::gated_sum_forward(as(in[0]), as(in[1]), as(in[2]), as(in[3]), index.rowptr, index.col, run);
  const auto [query, key, value, edge] =
      cuda::gated_sum_backward(as(grads[0]), as(grads[1]), out, gate, total, as(in[2]), index, run);
  return {out, gate, query, key, value, edge};
}

}  // namespace

TEST_CASE("the CUDA kernels of gated_edge_sum, emulated, agree with the CPU", "[gated_edge_sum_kernel]") {
  const RandomEdges edges(13, 9, 40, 3);
  const EdgeIndex index = edges.index();
  for (const int64_t width : {1, 70}) {
    const Tensors inputs{normal({13, width}, 11), normal({9, width}, 12), normal({9, width}, 13),
                         normal({40, width}, 14)};
    const Tensors grads{normal({13, width}, 15), normal({40, width}, 16)};
    const auto call = [&](const Tensors& in) {
      const auto [out, gate] = gated_edge_sum(in[0], in[1], in[2], in[3], index);
      return Tensors{out, gate};
    };
    const Tensors expected = outputs_and_gradients(call, inputs, grads, at::kDouble);
    require_all_close(emulated<ThreadOrder::kAscending>(inputs, grads, index, at::kDouble), expected, 1e-12, "float64");
    const Tensors single = emulated<ThreadOrder::kAscending>(inputs, grads, index, at::kFloat);
    require_all_close(single, expected, 1e-5, "float32");
    require_all_equal(emulated<ThreadOrder::kDescending>(inputs, grads, index, at::kFloat), single, "other order");
  }
}

TEST_CASE("the CUDA kernels of gated_edge_sum, emulated, stay inside the arrays whatever the index",
          "[gated_edge_sum_kernel]") {
  with_guarded_memory([] {
    const at::Tensor rows = at::ones({2, 2}), columns = at::ones({3, 2}), edge = at::ones({4, 2});
    emulated<ThreadOrder::kAscending>({rows, columns, columns, edge}, {rows, edge}, wild_index(), at::kFloat);
    for (const at::Tensor& given : {rows, columns, edge}) require_equal(given, at::ones_like(given), "an argument");
  });
}

}  // namespace geosft::test::test_gated_edge_sum_kernel
