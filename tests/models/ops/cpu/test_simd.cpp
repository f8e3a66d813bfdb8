// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/simd.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_simd {

TEST_CASE("force_simd_target chooses every target and returns to the best", "[simd]") {
  const std::vector<std::string> names = simd_target_names();
  REQUIRE_FALSE(names.empty());
  for (const std::string& name : names) {
    force_simd_target(name);
    REQUIRE(simd_target_name() == name);
  }
  force_simd_target("");
  REQUIRE(simd_target_name() == names.front());
}

TEST_CASE("force_simd_target refuses an unknown name and changes nothing for it", "[simd]") {
  require_error([] { force_simd_target("abacus"); }, {"name", "abacus"});
  REQUIRE(simd_target_name() == simd_target_names().front());
}

}  // namespace geosft::test::test_simd
