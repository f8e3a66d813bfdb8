// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_cost_command {

TEST_CASE("costs are measured and fitted") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "128,256", "--keys", "8,16", "--width", "32", "--heads", "4", "--repeats", "1"};
  const std::string out = shop.analyze_well(Words{"cost"} + small);
  CHECK_THAT(out, Catch::Contains("seconds against tokens, softmax, all tokens: power "));
  CHECK_THAT(out, Catch::Contains("bytes against keys, sampling: power "));
  CHECK(shop.csv().size() == 1 + 2 * 6);
}

}  // namespace geosft::test::test_cost_command
