// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "tests/models/layers/slow_primal_layer.h"
#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/bench/attention_inputs.h"

namespace geosft::bench::test::test_primal_benchmarks {

TEST_CASE("implementations of primal_attention compute what ours computes", "[bench]") {
  const Entries entries = primal_entries(small_sizes());
  require_agreement(entries);
  REQUIRE(entries.size() == 20);
  for (const Entry& entry : entries) {
    INFO(entry.name);
    const bool layer = entry.name.starts_with("primal_layer/"), pooled = entry.name.find("bn_sh") != std::string::npos;
    const bool ragged = entry.name.find("ragged") != std::string::npos;
    CHECK(compared(entry.make()) == (layer || pooled ? 0 : ragged ? 2 : 1));
  }
}

TEST_CASE("implementations of primal_attention say how many keys a query has", "[bench]") {
  const auto keys = [](const char* name, size_t implementation) {
    const Benchmark benchmark = chosen_entries(primal_entries(small_sizes()), {name}).front().make();
    const double own = benchmark.implementations.at(implementation).keys;
    return own > 0 ? own : benchmark.keys;
  };
  CHECK(keys("primal_attention/softmax/forward", 0) == 37);
  CHECK(keys("primal_attention/softmax/forward", 1) == 37);
  // Factors 1, 1 and 2 of three heads leave 37, 37 and 19 of 37 keys.
  CHECK(keys("primal_attention/bn_sh/forward", 0) == Approx(31));
  // A window of 32 tokens on either side of 37: the sum over i of min(36, i + 32) - max(0, i - 32) + 1 is 1349.
  CHECK(keys("primal_attention/sparse/forward", 0) == Approx(1349.0 / 37));
  CHECK(keys("primal_attention/sparse/forward", 1) == 37);
  // Strides of 6 over 37 tokens: at most 5 on either side, 37 * 11 - 5 * 6 = 377 pairs, and those 6, 12, … 36 apart,
  // 2 * (31 + 25 + 19 + 13 + 7 + 1) = 192.
  CHECK(keys("primal_layer/sparse/forward", 0) == Approx(569.0 / 37));
  // 74 rows in items of 18, 29, 17 and 10 tokens.
  CHECK(keys("primal_attention/ragged/forward", 0) == Approx((18 * 18 + 29 * 29 + 17 * 17 + 10 * 10) / 74.0));
  CHECK(keys("primal_attention/ragged/forward", 2) == 29);
}

TEST_CASE("layers of the primal-dual family give the tokens and gradients of their definition", "[bench]") {
  using geosft::test::require_close;
  const Sizes sizes = small_sizes();
  for (const Entry& entry : chosen_entries(primal_entries(sizes), {"primal_layer"})) {
    const bool backward = entry.name.ends_with("backward");
    const std::string member = entry.name.substr(13, entry.name.rfind('/') - 13);
    const Benchmark benchmark = entry.make();
    REQUIRE(benchmark.implementations.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
      INFO(entry.name << ": " << benchmark.implementations[i].name);
      const Tensors results = benchmark.implementations[i].run();
      REQUIRE(results.size() == (backward ? 10 : 1));
      // The same weights and tokens, in double precision.
      torch::manual_seed(sizes.seed);
      auto generator = generator_of(sizes);
      PrimalSelfAttention layer(12, 3, primal_options(i == 0 ? member : "softmax", 3));
      layer->to(at::kDouble);
      const at::Tensor x = normal({74, 12}, generator).to(at::kDouble).requires_grad_(true);
      const at::Tensor grad_output = normal({74, 12}, generator).to(at::kDouble);
      const at::Tensor expected = geosft::test::slow_primal_layer(layer, x, {0, 37, 74}, RelativeEncoding::none());
      require_close(results[0].detach(), expected.detach(), 1e-5, "tokens");
      if (!backward) continue;
      Tensors inputs = layer->parameters();
      inputs.push_back(x);
      const Tensors gradients = torch::autograd::grad({expected}, inputs, {grad_output});
      // Softmax does not see the keys' bias: its gradient is zero but for rounding.
      for (size_t g = 0; g < gradients.size(); ++g) require_close(results[g + 1], gradients[g], 1e-4, "gradient", 1.0);
    }
  }
}

}  // namespace geosft::bench::test::test_primal_benchmarks
