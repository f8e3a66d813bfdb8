// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_neighbour_benchmarks {

TEST_CASE("farthest points and neighbours are those of the plain ways", "[bench]") {
  const Entries small =
      chosen_entries(neighbour_entries(small_sizes()),
                     {"farthest_point_sampling/1024to256", "farthest_point_sampling/4096to1024", "knn/k16/10000"});
  REQUIRE(small.size() == 3);
  require_agreement(small, 0.0);
  for (const Entry& entry : small) CHECK(compared(entry.make()) == 1);
}

}  // namespace geosft::bench::test::test_neighbour_benchmarks
