// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_attention_benchmarks {

TEST_CASE("implementations of maxout_attention compute what ours computes", "[bench]") {
  const Entries entries = attention_entries(small_sizes());
  require_agreement(entries);
  REQUIRE(entries.size() == 6);
  for (const Entry& entry : entries) {
    CHECK(compared(entry.make()) == (entry.name.ends_with("/score") ? 0 : 2));
  }
}

TEST_CASE("the benchmark of the score loop counts values of one channel", "[bench]") {
  const Sizes sizes = small_sizes();
  const Entries entries = attention_entries(sizes);
  REQUIRE(entries[2].name == "maxout_attention/k9/score");
  const Benchmark score = entries[2].make();
  CHECK(score.implementations[0].run().front().sizes() == at::IntArrayRef({2 * 37, 3, 1}));
  CHECK(score.implementations[0].work->max_add == 2.0 * 37 * 9 * 12);
  CHECK(score.implementations[0].work->multiply_add == 2.0 * 37 * 9 * 3);
}

TEST_CASE("the benchmark of maxout_attention counts its arithmetic", "[bench]") {
  const Sizes sizes = small_sizes();
  const Benchmark forward = attention_entries(sizes).front().make();
  const double elements = 2.0 * 37 * 9 * 12;
  CHECK(forward.implementations[0].work->max_add == elements);
  CHECK(forward.implementations[0].work->multiply_add == elements);
}

}  // namespace geosft::bench::test::test_attention_benchmarks
