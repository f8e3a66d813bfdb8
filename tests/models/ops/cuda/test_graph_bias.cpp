// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/graph_bias.cuh"

#include "models/training/autocast.h"
#include "tests/guarded_memory.h"
#include "tests/models/ops/cuda/emulated_attention.h"
#include "tests/models/ops/graph_cases.h"

namespace geosft::test::test_graph_bias {

using namespace graph_cases;
using cuda::GraphOperator;

TEST_CASE("the CUDA kernels of graph_attention, emulated, reproduce the golden cases", "[graph_bias]") {
  for (const char* name :
       {"duplicate_edges", "no_edges", "one_item", "ragged", "ragged_directed_c16", "repeated_samples"}) {
    require_emulated_fixture<GraphOperator>(std::string("graph_") + name, kArguments);
  }
}

TEST_CASE("the CUDA kernels of graph_attention, emulated, agree with the reference and the CPU", "[graph_bias]") {
  uint64_t seed = 80;
  for (const Sizes& sizes :
       {Sizes{{1}, {1}, 1, 1, 1}, Sizes{{129}, {33}, 3, 5, 7}, Sizes{{5, 0, 131, 2, 3}, {4, 0, 65, 0, 1}, 2, 1, 3},
        Sizes{{70}, {17}, 2, 33, 64}, Sizes{{5, 66}, {20, 3}, 1, 128, 65}, Sizes{{9, 64}, {33, 65}, 1, 20, 32}}) {
    for (const int64_t degree : {0, 1, 6}) {
      require_emulated_reference<GraphOperator>(fused, slow, random_graph(sizes, seed += 10, 2, degree), kArguments,
                                                "degree " + std::to_string(degree));
    }
  }
}

TEST_CASE("the CUDA kernels of graph_attention, emulated, keep the gradient of edges whose weights are zero",
          "[graph_bias]") {
  Arguments a = random_graph({{30, 4}, {9, 3}, 2, 4, 4}, 81, 2, 4);
  for (const char* name : {"w_mul", "w_add"}) a.tensors[name] = at::zeros_like(a[name]);
  require_emulated_reference<GraphOperator>(fused, slow, a, kArguments, "zero weights");
}

TEST_CASE("the CUDA kernels of graph_attention, emulated, stay inside the arrays whatever the indices",
          "[graph_bias]") {
  with_guarded_memory([] {
    for (const int64_t wrong : {int64_t{-5}, int64_t{1000}, INT64_MAX, INT64_MIN}) {
      Arguments a = random_graph({{30, 4}, {9, 3}, 2, 4, 4}, 82, 2, 4);
      for (const char* name : {"rowptr", "col", "top", "partner"}) {
        a.tensors[name] = a[name].clone();
        a[name].slice(0, 2, 5).fill_(wrong);
      }
      const Outcome outcome =
          emulate<EmulatedLauncher<false>, GraphOperator>(a, kArguments, at::ones({34, 2, 4}), at::kFloat);
      REQUIRE(at::isfinite(outcome.out).all().item<bool>());
      for (const auto& [name, gradient] : outcome.gradients) {
        INFO("gradient of " << name);
        REQUIRE(at::isfinite(gradient).all().item<bool>());
      }
    }
  });
}

TEST_CASE("the CUDA kernels of graph_attention, emulated, skip gradients that are not requested", "[graph_bias]") {
  const Arguments a = random_graph({{30, 4}, {9, 3}, 2, 4, 4}, 83, 2, 4);
  require_left_out<GraphOperator>(a, kArguments, at::randn({34, 2, 4}, generator(9), at::kDouble));
}

TEST_CASE("the CUDA kernels of graph_attention, emulated, keep their type inside autocast", "[graph_bias]") {
  const Arguments a = random_graph({{30, 4}, {9, 3}, 2, 4, 4}, 84, 2, 4);
  const at::Tensor grad_output = at::randn({34, 2, 4}, generator(10));
  const auto outcome = [&] {
    return emulate<EmulatedLauncher<false>, GraphOperator>(a, kArguments, grad_output, at::kFloat);
  };
  const Outcome expected = outcome();
  const Autocast autocast(at::kCPU, at::kBFloat16);
  const Outcome actual = outcome();
  require_equal(actual.out, expected.out, "out");
  for (const auto& [name, gradient] : expected.gradients) require_equal(actual.gradients.at(name), gradient, name);
}

}  // namespace geosft::test::test_graph_bias
