// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_pseudoconvexity_command {

TEST_CASE("the leaky relu has no contradictions, softmax has, and they are shown") {
  const AnalysisShop shop;
  const std::string out = shop.analyze_well({"pseudoconvexity", "--segments", "3000", "--keys", "4"});
  CHECK_THAT(out, Catch::Contains("leaky relu: 0 contradictions on 3000 segments, 4 components each"));
  CHECK_THAT(out, Catch::Contains("  from (") && Catch::Contains("falls from"));
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 3);
  CHECK(csv[1] == "leaky relu,3000,4,0");
  CHECK(std::stol(csv[2].substr(csv[2].rfind(',') + 1)) > 10);
}

TEST_CASE("in the weights, maxout has no contradictions in a region, softmax of dot products has") {
  const AnalysisShop shop;
  shop.analyze_well({"pseudoconvexity", "--in", "weights", "--segments", "1000", "--keys", "3"});
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 3);
  CHECK(csv[1] == "leaky relu of maxout scores,1000,3,0");
  CHECK(std::stol(csv[2].substr(csv[2].rfind(',') + 1)) > 10);
}

}  // namespace geosft::test::test_pseudoconvexity_command
