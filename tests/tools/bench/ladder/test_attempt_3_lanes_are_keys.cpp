// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_attempt_3_lanes_are_keys {

TEST_CASE("ladder: attempt_3_lanes_are_keys agrees with double precision", "[bench]") {
  require_rung(attempt_3_lanes_are_keys);
}

}  // namespace geosft::bench::test::test_attempt_3_lanes_are_keys
