// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_sampling_benchmarks {

TEST_CASE("softmax pooling and its implementation agree", "[bench]") {
  const Entries pools = chosen_entries(sampling_entries(small_sizes()), {"softmax_pool"});
  REQUIRE(pools.size() == 2);
  require_agreement(pools);
  CHECK(compared(pools.front().make()) == 1);
}

TEST_CASE("implementations of sample_pairs have as many weights, all between 0 and 1", "[bench]") {
  for (const Entry& entry : chosen_entries(sampling_entries(small_sizes()), {"sample_pairs"})) {
    INFO(entry.name);
    const Benchmark benchmark = entry.make();
    const int64_t count = benchmark.implementations[0].run()[0].numel();
    for (const Implementation& implementation : benchmark.implementations) {
      const at::Tensor weights = implementation.run()[0];
      CHECK(weights.numel() == count);
      CHECK(weights.min().item<double>() > 0.0);
      CHECK(weights.max().item<double>() < 1.0);
    }
  }
}

}  // namespace geosft::bench::test::test_sampling_benchmarks
