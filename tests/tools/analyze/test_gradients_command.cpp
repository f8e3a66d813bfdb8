// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_gradients_command {

TEST_CASE("gradients of W_V grow with the tokens, those of W_Q hardly do") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "8,32,128", "--width", "256", "--repeats", "8"};
  const Words lines = lines_of(shop.analyze_well(Words{"gradients"} + small));
  REQUIRE(lines.size() == 2);
  const auto power = [](const std::string& line) { return std::stod(line.substr(line.find("power ") + 6)); };
  CHECK(std::abs(power(lines[0])) < 0.35);  // 0.05 to 0.15 for six seeds
  CHECK(power(lines[1]) == Approx(1.0).margin(0.2));
  CHECK_THAT(lines[1], Catch::Contains("W_V") && Catch::Contains(" ± "));
  CHECK(shop.csv().size() == 1 + 6);
  for (const auto& [name, norms] : shop.curves()) {
    const std::string fitted = slow_power({8, 32, 128}, norms);
    CHECK(name.substr(name.find("power ") + 6) == fitted);
    CHECK_THAT(lines[name.rfind("W_V", 0) == 0 ? 1 : 0], Catch::EndsWith("power " + fitted));
  }
  const ProcessResult one = shop.analyze({"gradients", "--tokens", "8"});
  CHECK(one.exit == 2);
}

TEST_CASE("the former name of an option of an analysis is taken with a notice, and not beside the present one") {
  const AnalysisShop shop;
  const Words small = {"gradients", "--tokens", "8,16", "--width", "32", "--draws", "1"};
  const ProcessResult former = shop.analyze(small);
  CHECK(former.exit == (has_gnuplot() ? 0 : 1));
  CHECK_THAT(former.err, Catch::Contains("--draws is now called --repeats"));
  const ProcessResult both = shop.analyze(small + Words{"--repeats", "1"});
  CHECK(both.exit == 2);
  CHECK_THAT(both.err, Catch::Contains("--draws") && Catch::Contains("--repeats"));
}

}  // namespace geosft::test::test_gradients_command
