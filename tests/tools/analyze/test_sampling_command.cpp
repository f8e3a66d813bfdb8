// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

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

TEST_CASE("training spreads the scores, and the sampler takes some points much oftener than others") {
  const AnalysisShop shop;
  shop.analyze_well(Words{"sampling", "--snapshots", "0,16", "--item", "3"} + shop.tiny());
  std::map<std::string, std::vector<double>> scores, frequencies;
  const Words csv = shop.csv();
  for (size_t i = 1; i < csv.size(); ++i) {
    const Words fields = fields_of(csv[i]);
    scores[fields.at(0)].push_back(std::stod(fields.at(5)));
    frequencies[fields.at(0)].push_back(std::stod(fields.at(6)));
  }
  const auto spread = [](const std::vector<double>& x) { return at::tensor(x, at::kDouble).std().item<double>(); };
  CHECK(spread(scores.at("16")) > 2 * spread(scores.at("0")));
  CHECK(spread(frequencies.at("16")) > 1.2 * spread(frequencies.at("0")));
}

}  // namespace geosft::test::test_sampling_command
