// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/tools/bench/bench_tool.h"

namespace geosft::bench::test::test_ladder_command {

TEST_CASE("every variant of the ladder is checked, timed and explained", "[bench]") {
  const nlohmann::json json = nlohmann::json::parse(run_bench_well(tiny({"ladder", "--json"})).out);
  REQUIRE(json["rungs"].size() == 6);
  for (const nlohmann::json& variant : json["rungs"]) {
    CHECK(variant["error"] < 1e-5);
    CHECK(variant["seconds"] > 0);
    CHECK_FALSE(variant["lesson"].get<std::string>().empty());
  }
  CHECK_THAT(run_bench_well(tiny({"ladder"})).out, Catch::Contains("1 broadcast") && Catch::Contains("6 the operator"));
}

}  // namespace geosft::bench::test::test_ladder_command
