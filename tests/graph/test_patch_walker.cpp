// SPDX-License-Identifier: Apache-2.0
#include "graph/patch_walker.h"

#include <catch2/catch.hpp>

#include "tests/graph/walks.h"

namespace geosft::test::test_patch_walker {

TEST_CASE("PatchWalker: sparse walks, walks that fill their component, weights, odd and even numbers of steps") {
  require_exact_symmetric_walks<PatchWalker<double>>(GENERATE(1, 2, 6, 7, 9, 12));
}

TEST_CASE("PatchWalker: unsymmetric graphs, weighted or not") {
  const int64_t steps = GENERATE(1, 2, 9);
  const auto require_exact = [&](const CsrGraph& graph) {
    require_exact_walks<PatchWalker<double>>(graph, steps, /*symmetric=*/false);
  };
  require_exact(random_graph(150, 220, 4));
  require_exact(random_graph(60, 400, 5, true));
  require_exact(graph_of(5, {{0, 1}, {1, 2}, {2, 0}, {3, 3}, {3, 4}}));
}

}  // namespace geosft::test::test_patch_walker
