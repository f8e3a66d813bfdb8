// SPDX-License-Identifier: Apache-2.0
#include "geometry/version.h"

#include <catch2/catch.hpp>
#include <string>

namespace geosft::test::test_version {

TEST_CASE("version is that of the project", "[version]") {
  REQUIRE(std::string(version()) == GEOSFT_VERSION);
}

}  // namespace geosft::test::test_version
