// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_graph_benchmarks {

TEST_CASE("the implementation of graph_attention computes what ours computes", "[bench]") {
  require_agreement(graph_entries(small_sizes()), 1e-3);
  CHECK(compared(graph_entries(small_sizes()).front().make()) == 1);
}

TEST_CASE("graphs with fewer nodes than edges a node have no parallel edges", "[bench]") {
  Sizes sizes = small_sizes();
  sizes.tokens = 4;
  require_agreement(graph_entries(sizes), 1e-3);
}

}  // namespace geosft::bench::test::test_graph_benchmarks
