// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_layer_benchmarks {

TEST_CASE("layers give finite tokens of one size and gradients for every parameter", "[bench]") {
  for (const Entry& entry : layer_entries(small_sizes())) {
    INFO(entry.name);
    const Benchmark benchmark = entry.make();
    REQUIRE(benchmark.contenders.size() == 4);
    const bool both = entry.name.find("backward") != std::string::npos;
    for (const Contender& contender : benchmark.contenders) {
      INFO(contender.name);
      const Tensors results = contender.run();
      CHECK(results.size() > (both ? 12U : 0U));
      CHECK(results[0].numel() == 2 * 37 * 12);
      for (const at::Tensor& result : results) CHECK(result.isfinite().all().item<bool>());
    }
  }
}

TEST_CASE("every contender of a layer has the gradient of its tokens last", "[bench]") {
  const Benchmark benchmark = layer_entries(small_sizes())[1].make();
  for (const Contender& contender : benchmark.contenders) {
    const at::Tensor gradient = contender.run().back();
    CHECK(gradient.numel() == 2 * 37 * 12);
    CHECK(gradient.abs().sum().item<double>() > 0.0);
  }
}

}  // namespace geosft::bench::test::test_layer_benchmarks
