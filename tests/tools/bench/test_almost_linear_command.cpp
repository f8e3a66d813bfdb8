// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/data/files.h"
#include "tests/environment.h"
#include "tests/tools/bench/bench_tool.h"

namespace geosft::bench::test::test_almost_linear_command {

using Catch::Contains;

namespace {

std::vector<std::string> small(const std::vector<std::string>& more) {
  std::vector<std::string> words{"almost-linear",
                                 "--min-tokens",
                                 "64",
                                 "--max-tokens",
                                 "128",
                                 "--exact-tokens",
                                 "64",
                                 "--read-rows",
                                 "8",
                                 "--repeats",
                                 "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("almost-linear prints a row for each n, and the exponent", "[bench]") {
  const std::string text = run_bench_well(small({})).out;
  CHECK(std::count(text.begin(), text.end(), '\n') == 2 + 2 + 1);
  CHECK_THAT(text, Contains("| 64 | 3 | ") && Contains("| 128 | 4 | ") && Contains("time grows with exponent"));
  const nlohmann::json all = nlohmann::json::parse(run_bench_well(small({"--json"})).out);
  REQUIRE(all["points"].size() == 2);
  CHECK(all["points"][0]["rows_read"] == 64);
  CHECK(all["points"][0].contains("exact_seconds"));
  CHECK(all["points"][1]["rows_read"] == 8);
  CHECK_FALSE(all["points"][1].contains("exact_seconds"));
  CHECK(all["points"][1]["gradients"]["w_k"] < 1.0 / 16);
  CHECK(all.contains("time_exponent"));
}

TEST_CASE("almost-linear draws time with the fitted exponent", "[bench]") {
  if (!geosft::test::has_gnuplot()) return;
  const geosft::test::TemporaryFolder folder;
  run_bench_well(small({"--out", (folder / "growth").string()}));
  const std::string picture = geosft::test::read_text(folder / "growth.svg");
  CHECK_THAT(picture, Contains("polynomial attention: exponent ") && Contains("exact attention<"));
  CHECK(std::filesystem::exists(folder / "growth.png"));
}

TEST_CASE("almost-linear refuses sizes that contradict", "[bench]") {
  require_wrong_use({"almost-linear", "--min-tokens", "64", "--max-tokens", "32"}, {"--max-tokens", "32", "64"});
  require_wrong_use({"almost-linear", "--score", "0"}, {"--score"});
  require_wrong_use({"almost-linear", "--read-rows", "0"}, {"--read-rows"});
}

}  // namespace geosft::bench::test::test_almost_linear_command
