// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_attempt_6_operator {

TEST_CASE("ladder: attempt_6_operator agrees with double precision", "[bench]") {
  require_rung(attempt_6_operator);
}

}  // namespace geosft::bench::test::test_attempt_6_operator
