// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "models/ops/cpu/simd.h"
#include "tests/tools/bench/bench_tool.h"

namespace geosft::bench::test::test_machine_command {

TEST_CASE("the machine is named, by subcommand and by option, for people and for programs", "[bench]") {
  CHECK_THAT(run_bench_well({"--machine"}).out, Catch::Contains(simd_target_name()) && Catch::Contains("max+add"));
  const nlohmann::json json = nlohmann::json::parse(run_bench_well({"machine", "--json"}).out);
  CHECK(json["simd_target"] == simd_target_name());
  CHECK(json["threads"] == 1);
  CHECK(json["max_add_per_second"] > 0);
  CHECK(json["allocator"] == GEOSFT_ALLOCATOR);
}

TEST_CASE("a vector target is forced from the command line", "[bench]") {
  const std::string last = simd_target_names().back();
  const nlohmann::json json = nlohmann::json::parse(run_bench_well({"machine", "--json", "--simd", last}).out);
  CHECK(json["simd_target"] == last);
  require_wrong_use({"machine", "--simd", "abacus"}, {"abacus", last});
}

}  // namespace geosft::bench::test::test_machine_command
