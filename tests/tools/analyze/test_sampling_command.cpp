// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_sampling_command {

TEST_CASE("the sampler is looked at while a classifier is trained") {
  const AnalysisShop shop;
  const Words lines =
      lines_of(shop.analyze_well(Words{"sampling", "--snapshots", "2,0", "--item", "1", "--draws", "4"} + shop.tiny()));
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::StartsWith("after 0 epochs: "));
  CHECK_THAT(lines[1], Catch::StartsWith("after 2 epochs: "));
  CHECK(shop.csv().size() == 1 + 2 * 64);
  const std::string curves = read_text(shop.out() + "_curves.csv");
  CHECK_THAT(curves, Catch::Contains("\n\"coverage, chosen by the sampler\",2,") &&
                         Catch::Contains("\n\"importance of the points, after 0 epochs\","));
  if (has_gnuplot()) CHECK(std::filesystem::exists(shop.out() + "_curves.svg"));
  const ProcessResult absent = shop.analyze(Words{"sampling", "--item", "600"} + shop.tiny());
  require_tool_failure("geosft-analyze", absent, 2, {"--item", "0 … 5", "600"});
}

}  // namespace geosft::test::test_sampling_command
