// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/tools/bench/bench_tool.h"

namespace geosft::bench::test::test_parts_command {

TEST_CASE("parts prints a row for each part of a layer and one for all", "[bench]") {
  const std::string text = run_bench_well(tiny({"parts"})).out;
  CHECK(std::count(text.begin(), text.end(), '\n') == 3 + 7 + 1);
  CHECK_THAT(text, Catch::Contains("| attention | ") && Catch::Contains("| layer | "));
  std::vector<std::string> words = tiny({"parts"});
  words.emplace_back("--json");
  const nlohmann::json all = nlohmann::json::parse(run_bench_well(words).out);
  REQUIRE(all.size() == 1);
  CHECK(all[0]["keys"] == 4);
  double sum = 0;
  for (const nlohmann::json& part : all[0]["parts"]) sum += part["flops"].get<double>();
  CHECK(all[0]["flops"] == sum);
}

TEST_CASE("parts refuses sizes that do not fit", "[bench]") {
  require_wrong_use({"parts", "--width", "10", "--heads", "4"}, {"--heads", "10"});
}

}  // namespace geosft::bench::test::test_parts_command
