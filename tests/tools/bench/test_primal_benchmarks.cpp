// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_primal_benchmarks {

TEST_CASE("contenders of primal_attention compute what ours computes", "[bench]") {
  const Entries entries = primal_entries(small_sizes());
  require_agreement(entries);
  REQUIRE(entries.size() == 20);
  for (const Entry& entry : entries) {
    INFO(entry.name);
    const bool layer = entry.name.starts_with("primal_layer/"), pooled = entry.name.find("bn_sh") != std::string::npos;
    CHECK(compared(entry.make()) == (layer || pooled ? 0 : 1));
  }
}

TEST_CASE("layers of the primal-dual family give tokens and gradients", "[bench]") {
  for (const Entry& entry : chosen_entries(primal_entries(small_sizes()), {"primal_layer"})) {
    INFO(entry.name);
    for (const Contender& contender : entry.make().contenders) {
      const Tensors results = contender.run();
      CHECK(results.size() == (entry.name.ends_with("backward") ? 10 : 1));
      CHECK(results[0].numel() == 2 * 37 * 12);
      for (const at::Tensor& result : results) CHECK(result.isfinite().all().item<bool>());
    }
  }
}

}  // namespace geosft::bench::test::test_primal_benchmarks
