// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_ablations_command {

TEST_CASE("variants are trained and become a table") {
  const AnalysisShop shop;
  const Words changes = {"--change", "score=dot", "probability=softmax", "--repeats", "2", "--epochs", "1"};
  const std::string table = shop.analyze_well(Words{"ablations"} + shop.tiny() + changes);
  for (const char* row : {"| as configured |", "| score=dot |", "| probability=softmax |", " ± "}) {
    CHECK_THAT(table, Catch::Contains(row));
  }
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 4);
  CHECK_THAT(csv[0], Catch::StartsWith("run,runs,accuracy,accuracy_deviation"));
  CHECK_THAT(csv[2], Catch::StartsWith("score=dot,2,"));
  const ProcessResult wrong = shop.analyze(Words{"ablations", "--change", "bins=0"} + shop.tiny());
  require_tool_failure("geosft-analyze", wrong, 2, {"bins"});
}

}  // namespace geosft::test::test_ablations_command
