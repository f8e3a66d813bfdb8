// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_relative_benchmarks {

TEST_CASE("implementations of point_attention and sequence_attention compute what ours compute", "[bench]") {
  const Entries entries = relative_entries(small_sizes());
  require_agreement(entries, 1e-3);
  REQUIRE(entries.size() == 16);
  for (const Entry& entry : entries) CHECK(compared(entry.make()) == 2);
}

}  // namespace geosft::bench::test::test_relative_benchmarks
