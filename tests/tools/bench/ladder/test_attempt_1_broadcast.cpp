// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_attempt_1_broadcast {

TEST_CASE("ladder: attempt_1_broadcast agrees with double precision", "[bench]") {
  require_rung(attempt_1_broadcast);
}

}  // namespace geosft::bench::test::test_attempt_1_broadcast
