// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tools/bench/bench_tool.h"

namespace geosft::bench::test::test_frame_command {

TEST_CASE("the proof of the frame is printed for people and for programs", "[bench]") {
  CHECK_THAT(run_bench_well({"frame", "--keys", "20"}).out, Catch::Contains("LIBSVM") && Catch::Contains("bn_sh"));
  std::istringstream lines(run_bench_well({"frame", "--keys", "20", "--json"}).out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const nlohmann::json json = nlohmann::json::parse(line);
    CHECK(json["operator_difference"] < 1e-6);
    CHECK(json["frame_difference"] < 1e-6);
  }
  CHECK(count == 11);
}

TEST_CASE("an impossible problem is wrong use", "[bench]") {
  require_wrong_use({"frame", "--keys", "0"}, {"--keys"});
  require_wrong_use({"frame", "--cost", "0"}, {"--cost"});
  require_wrong_use({"frame", "--window", "0"}, {"--window"});
}

}  // namespace geosft::bench::test::test_frame_command
