// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_variant_1_broadcast {

TEST_CASE("ladder: variant_1_broadcast agrees with double precision", "[bench]") {
  require_variant(variant_1_broadcast);
}

}  // namespace geosft::bench::test::test_variant_1_broadcast
