// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_variant_3_lanes_are_keys {

TEST_CASE("ladder: variant_3_lanes_are_keys agrees with double precision", "[bench]") {
  require_variant(variant_3_lanes_are_keys);
}

}  // namespace geosft::bench::test::test_variant_3_lanes_are_keys
