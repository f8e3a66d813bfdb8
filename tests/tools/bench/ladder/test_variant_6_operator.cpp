// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_variant_6_operator {

TEST_CASE("ladder: variant_6_operator agrees with double precision", "[bench]") {
  require_variant(variant_6_operator);
}

}  // namespace geosft::bench::test::test_variant_6_operator
