// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/dense_bias.cuh"

#include "tests/guarded_memory.h"
#include "tests/models/ops/cuda/emulated_attention.h"
#include "tests/models/ops/maxout_cases.h"

namespace geosft::test::test_dense_bias {

using namespace maxout_cases;
using cuda::DenseOperator;

TEST_CASE("the CUDA kernels of maxout_attention, emulated, reproduce the golden cases", "[dense_bias]") {
  for (const char* name : {"add_only", "all_zero", "empty_items", "many_keys", "mul_only", "no_leak_eps0", "one_item",
                           "ragged", "ragged_relative", "ties", "zero_rows"}) {
    require_emulated_fixture<DenseOperator>(std::string("maxout_") + name, kArguments);
  }
}

TEST_CASE("the CUDA kernels of maxout_attention, emulated, agree with the reference and the CPU", "[dense_bias]") {
  uint64_t seed = 1;
  for (const Sizes& sizes : tile_sizes()) {
    require_emulated_reference<DenseOperator>(fused, slow, random_attention(sizes, ++seed), kArguments, "plain");
    require_emulated_reference<DenseOperator>(fused, slow, with_relative(sizes, ++seed), kArguments, "relative");
  }
}

TEST_CASE("the CUDA kernels of maxout_attention, emulated, leave zero rows exactly zero", "[dense_bias]") {
  Arguments a = random_attention({{20}, {9}, 2, 3, 4}, 40);
  a.eps = 0;
  a.tensors["q"] = -at::ones_like(a["q"]);
  a.tensors["k"] = -at::ones_like(a["k"]);
  a.tensors["leak"] = at::full_like(a["leak"], -std::numeric_limits<double>::infinity());
  const Outcome outcome =
      emulate<EmulatedLauncher<false>, DenseOperator>(a, kArguments, at::ones({20, 2, 4}), at::kFloat);
  REQUIRE(at::equal(outcome.out, at::zeros_like(outcome.out)));
  for (const auto& [name, gradient] : outcome.gradients) {
    INFO(name);
    REQUIRE(at::equal(gradient, at::zeros_like(gradient)));
  }
}

TEST_CASE("the CUDA kernels of maxout_attention, emulated, pass NaN on as the CPU does", "[dense_bias]") {
  for (const std::string name : {"q", "k", "v", "leak"}) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      INFO(name);
      Arguments a = random_attention({{20, 3}, {9, 4}, 2, 5, 3}, 11);
      a[name].select(0, 1).select(0, 1).fill_(std::numeric_limits<double>::quiet_NaN());  // row 1 of the first item
      const at::Tensor grad_output = at::ones({23, 2, 3});
      const Outcome actual = emulate<EmulatedLauncher<true>, DenseOperator>(a, kArguments, grad_output, type);
      require_equal(actual.out.isnan(), evaluate(fused, a, grad_output, type).out.isnan(), name);
    }
  }
}

TEST_CASE("the CUDA kernels of maxout_attention, emulated, give zeros where the inverse of the denominator overflows",
          "[dense_bias]") {
  Arguments a = random_attention({{1}, {1}, 1, 1, 1}, 12);
  a.eps = 0;
  for (const char* name : {"q", "k"}) a.tensors[name] = at::full({1, 1, 1}, -1.0, at::kDouble);
  a.tensors["leak"] = at::full({1, 1}, -740.0, at::kDouble);
  const Outcome outcome =
      emulate<EmulatedLauncher<false>, DenseOperator>(a, kArguments, at::ones({1, 1, 1}), at::kDouble);
  REQUIRE(outcome.out.item<double>() == 0.0);
}

TEST_CASE(
    "the CUDA kernels of maxout_attention, emulated, give zeros for denominators below the smallest normal number",
    "[dense_bias]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    INFO(type);
    require_tiny_denominators(type, [](const Arguments& a, const at::Tensor& grad_output, at::ScalarType dtype) {
      return emulate<EmulatedLauncher<false>, DenseOperator>(a, kArguments, grad_output, dtype);
    });
  }
}

TEST_CASE("the CUDA kernels of maxout_attention name the argument that is too wide", "[dense_bias]") {
  const auto run = [](const Sizes& sizes) {
    const Arguments a = random_attention(sizes, 41);
    emulate<EmulatedLauncher<false>, DenseOperator>(a, kArguments, at::ones({1, sizes.heads, sizes.cv}), at::kFloat);
  };
  require_error([&] { run({{1}, {1}, 1, 129, 1}); }, {"q", "128", "129"});
  require_error([&] { run({{1}, {1}, 1, 1, 130}); }, {"v", "128", "130"});
  require_error([&] { run({{1}, {1}, 65536, 1, 1}); }, {"q", "65535", "65536"});
}

TEST_CASE("the CUDA kernels of maxout_attention, emulated, read r_mul and r_add inside their rows alone",
          "[dense_bias]") {
  Arguments a = with_relative({{4, 3}, {5, 2}, 2, 3, 2}, 42);
  a.tensors["r_mul"] = a["r_mul"].slice(0, 0, 9).clone();
  require_error(
      [&] {
        emulate<EmulatedLauncher<false>, DenseOperator>(a, kArguments, at::ones({7, 2, 2}), at::kFloat);
      },
      {"r_add", "9"});
  a.tensors["r_add"] = a["r_add"].slice(0, 0, 9).clone();
  with_guarded_memory([&] {
    Arguments copies = a;
    for (auto& [name, tensor] : copies.tensors) tensor = tensor.clone();
    const Outcome outcome =
        emulate<EmulatedLauncher<false>, DenseOperator>(copies, kArguments, at::ones({7, 2, 2}), at::kFloat);
    REQUIRE(at::isfinite(outcome.out).all().item<bool>());
  });
}

TEST_CASE("the CUDA kernels of maxout_attention, emulated, skip gradients that are not requested", "[dense_bias]") {
  const Arguments a = with_relative({{20, 3}, {17, 2}, 2, 3, 4}, 50);
  require_left_out<DenseOperator>(a, kArguments, at::randn({23, 2, 4}, generator(9), at::kDouble));
}

}  // namespace geosft::test::test_dense_bias
