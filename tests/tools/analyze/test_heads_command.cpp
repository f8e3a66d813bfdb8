// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_heads_command {

TEST_CASE("heads differ, by layer") {
  const AnalysisShop shop;
  shop.run_well(
      shop.train("deep", {"--layers", "2", "--epochs", "1", "--width", "32", "--heads", "4", "--bins", "16"}));
  const Words lines = lines_of(shop.analyze_well({"heads", (shop / "deep").string(), "--items", "2"}));
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[1], Catch::StartsWith("layer 2: mean distance"));
  const auto curves = shop.curves();
  REQUIRE(curves.size() == 1);
  const std::vector<double>& distances = curves.begin()->second;
  REQUIRE(distances.size() == 2);
  for (const double distance : distances) {
    CHECK(distance > 0.001);
    CHECK(distance < 1.5);  // two distributions are at most sqrt(2) apart
  }
}

}  // namespace geosft::test::test_heads_command
