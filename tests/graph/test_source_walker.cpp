// SPDX-License-Identifier: Apache-2.0
#include "graph/source_walker.h"

#include <catch2/catch.hpp>

#include "tests/graph/walks.h"

namespace geosft::test::test_source_walker {

TEST_CASE("SourceWalker: sparse walks, walks that fill their component, weights, odd and even numbers of steps") {
  require_exact_symmetric_walks<SourceWalker<double>>(GENERATE(1, 2, 6, 7, 9, 12));
}

}  // namespace geosft::test::test_source_walker
