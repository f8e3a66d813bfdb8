// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_variant_4_lanes_are_queries {

TEST_CASE("ladder: variant_4_lanes_are_queries agrees with double precision", "[bench]") {
  require_variant(variant_4_lanes_are_queries);
}

}  // namespace geosft::bench::test::test_variant_4_lanes_are_queries
