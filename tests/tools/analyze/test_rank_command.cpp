// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_rank_command {

TEST_CASE("the rank of equal tokens rises with the leak and stays 1 without it") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "48", "--width", "512", "--layers", "10", "--every", "5", "--seeds", "2"};
  const std::string out = shop.analyze_well(Words{"rank"} + small);
  CHECK_THAT(out, Catch::Contains("relu without the leak, seed 1: rank 1 after 10 layers"));
  const auto curves = shop.curves();
  REQUIRE(curves.size() == 4);
  for (const auto& [name, ranks] : curves) {
    REQUIRE(ranks.size() == 3);
    CHECK(ranks.front() == 1);
    if (name.find("without") == std::string::npos) {
      CHECK(ranks[1] > 16);  // 32 for eight seeds, as every layer doubles it; then all of them
      CHECK(ranks[2] == 48);
    } else {
      CHECK(ranks[2] == 1);
    }
  }
}

TEST_CASE("the rank is summarised over seeds, with feed-forward networks as well") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "16", "--width", "256", "--layers", "4", "--every", "2", "--seeds", "3"};
  const std::string out = shop.analyze_well(Words{"rank", "--feed-forward"} + small);
  CHECK_THAT(out, Catch::Contains("relu without the leak, rank after 2 layers: mean 1, 1 to 1; 4 layers: mean 1"));
  CHECK_THAT(out, Catch::Contains("leaky relu, rank after 2 layers: mean "));
}

}  // namespace geosft::test::test_rank_command
