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
    const bool ragged = entry.name.find("ragged") != std::string::npos;
    CHECK(compared(entry.make()) == (layer || pooled ? 0 : ragged ? 2 : 1));
  }
}

TEST_CASE("contenders of primal_attention say how many keys a query has", "[bench]") {
  const auto keys = [](const char* name, size_t contender) {
    const Benchmark benchmark = chosen_entries(primal_entries(small_sizes()), {name}).front().make();
    const double own = benchmark.contenders.at(contender).keys;
    return own > 0 ? own : benchmark.keys;
  };
  CHECK(keys("primal_attention/softmax/forward", 0) == 37);
  CHECK(keys("primal_attention/softmax/forward", 1) == 37);
  // Factors 1, 1 and 2 of three heads leave 37, 37 and 19 of 37 keys.
  CHECK(keys("primal_attention/bn_sh/forward", 0) == Approx(31));
  // A window of 32 tokens on either side of 37: the sum over i of min(36, i + 32) - max(0, i - 32) + 1 is 1349.
  CHECK(keys("primal_attention/sparse/forward", 0) == Approx(1349.0 / 37));
  CHECK(keys("primal_attention/sparse/forward", 1) == 37);
  // 74 rows in items of 18, 29, 17 and 10 tokens.
  CHECK(keys("primal_attention/ragged/forward", 0) == Approx((18 * 18 + 29 * 29 + 17 * 17 + 10 * 10) / 74.0));
  CHECK(keys("primal_attention/ragged/forward", 2) == 29);
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
