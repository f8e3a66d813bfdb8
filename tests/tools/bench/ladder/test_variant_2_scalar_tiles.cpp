// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_variant_2_scalar_tiles {

TEST_CASE("ladder: variant_2_scalar_tiles agrees with double precision", "[bench]") {
  require_variant(variant_2_scalar_tiles);
}

}  // namespace geosft::bench::test::test_variant_2_scalar_tiles
