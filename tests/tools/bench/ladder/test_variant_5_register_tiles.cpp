// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_variant_5_register_tiles {

TEST_CASE("ladder: variant_5_register_tiles agrees with double precision", "[bench]") {
  require_variant(variant_5_register_tiles);
}

}  // namespace geosft::bench::test::test_variant_5_register_tiles
