// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

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
  CHECK_THAT(csv[0], Catch::StartsWith("run,score,probability,k,sampler,runs,accuracy,accuracy_deviation"));
  CHECK_THAT(csv[1], Catch::StartsWith("as configured,maxout,leaky_relu,8,two-way softplus,2,"));
  CHECK_THAT(csv[2], Catch::StartsWith("score=dot,dot,leaky_relu,8,two-way softplus,2,"));
  // Two runs, in each of which some of six clouds are right: the mean and the deviation of a sample belong to two such
  // numbers. The table shows them in percent.
  for (size_t i = 1; i < csv.size(); ++i) {
    const Words fields = fields_of(csv[i]);
    const double mean = std::stod(fields.at(6)), deviation = std::stod(fields.at(7));
    INFO(csv[i]);
    bool found = false;
    for (int one = 0; one <= 6; ++one) {
      for (int other = 0; other <= one; ++other) {
        found |= std::abs(mean - (one + other) / 12.0) < 1e-6 &&
                 std::abs(deviation - (one - other) / 6.0 / std::sqrt(2.0)) < 1e-6;
      }
    }
    CHECK(found);
    std::ostringstream shown;
    shown << std::fixed << std::setprecision(1) << 100 * mean << " ± " << 100 * deviation;
    CHECK_THAT(table, Catch::Contains("| " + fields.at(0) + " |") && Catch::Contains(shown.str()));
  }
  const ProcessResult wrong = shop.analyze(Words{"ablations", "--change", "num_samples=0"} + shop.tiny());
  require_tool_failure("geosft-analyze", wrong, 2, {"num_samples"});
}

TEST_CASE("learning curves of variants are those of held-out clouds, by epoch") {
  const AnalysisShop shop;
  const Words given = Words{"ablations", "--change", "score=dot+probability=softmax", "--repeats", "2", "--epochs"} +
                      Words{"4", "--curves-every", "2", "--validation-fraction", "0.5", "--test-rotate", "none"};
  shop.analyze_well(given + shop.tiny());
  const Words curves = lines_of(read_text(shop.out() + "_curves.csv"));
  REQUIRE(curves.size() == 5);
  CHECK(curves[0] == "curve,epoch,accuracy");
  CHECK_THAT(curves[1], Catch::StartsWith("as configured,2,"));
  CHECK_THAT(curves[2], Catch::StartsWith("as configured,4,"));
  CHECK_THAT(curves[4], Catch::StartsWith("score=dot+probability=softmax,4,"));
  for (size_t i = 1; i < curves.size(); ++i) {
    const double accuracy = std::stod(fields_of(curves[i]).at(2));
    CHECK((accuracy >= 0 && accuracy <= 1));
  }
  if (has_gnuplot()) CHECK_THAT(read_text(shop.out() + "_curves.svg"), Catch::Contains("cumulative maximum"));
  const auto refused = [&](const Words& more, const std::vector<std::string>& words) {
    const ProcessResult wrong = shop.analyze(Words{"ablations", "--epochs", "1"} + more + shop.tiny());
    require_tool_failure("geosft-analyze", wrong, 2, words);
  };
  refused({"--curves-every", "2"}, {"--curves-every", "at most the epochs, 1"});
  refused({"--curves-every", "1", "--validation-fraction", "0"}, {"--curves-every", "held-out"});
}

TEST_CASE("the usual variants are what the paper compares, and each has a result of its own") {
  const AnalysisShop shop;
  shop.analyze_well(Words{"ablations"} + shop.tiny() + Words{"--epochs", "1"});
  const Words csv = shop.csv();
  REQUIRE(csv.size() == 1 + 10);
  std::set<std::string> samplers, results;
  for (size_t i = 1; i < csv.size(); ++i) {
    const Words fields = fields_of(csv[i]);
    samplers.insert(fields.at(4));
    results.insert(fields.at(10));  // the loss
  }
  CHECK(samplers.size() == 5);
  CHECK(results.size() == 10);
}

}  // namespace geosft::test::test_ablations_command
