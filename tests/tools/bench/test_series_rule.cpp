// SPDX-License-Identifier: Apache-2.0
// tools/bench/series_rule.py, on small series.
#include <catch2/catch.hpp>

#include "tests/places.h"
#include "tests/tools/sequence/sequence_tool.h"

namespace geosft::test::test_series_rule {
namespace {

ProcessResult series_rule(const Words& words) {
  return run_process("/usr/bin/env", Words{"python3", source_path("tools/bench/series_rule.py")} + words);
}

}  // namespace

TEST_CASE("series_rule.py: settings are compared on folds of the training series alone") {
  const SequenceShop shop;
  const std::string name = "Waves";
  const std::filesystem::path train = shop.data() / "Waves_TRAIN.ts";
  std::filesystem::remove(shop.data() / "Waves_TEST.ts");
  const std::string bin = std::filesystem::path(program_path("geosft-sequence")).parent_path().string();
  const Words words = {shop.data().string(),
                       "--out",
                       (shop / "rule").string(),
                       "--bin",
                       bin,
                       "--folds",
                       "2",
                       "--tokens",
                       "9",
                       "18",
                       "--steps",
                       "1",
                       "--dropout",
                       "0.1"};
  const ProcessResult first = series_rule(words);
  INFO(first.err);
  REQUIRE(first.exit == 0);
  const std::vector<std::string> rows = lines_of(first.out);
  REQUIRE(rows.size() == 3);
  CHECK_THAT(rows[0], Catch::Contains("tokens") && Catch::Contains("mean") && Catch::Contains(name));
  for (const char* patch : {"1", "2"}) {  // 18 steps or fewer
    double sum = 0;
    for (const char* fold : {"0", "1"}) {
      const std::string run = name + "_fold_" + fold + "_" + patch + "_1_0.1";
      const nlohmann::json result = nlohmann::json::parse(read_text(shop / "rule" / run / "result.json"));
      CHECK(result.at("count") == 20);
      sum += 100 * result.at("metrics").at("accuracy").get<double>() / 2;
    }
    char mean[16];
    std::snprintf(mean, sizeof mean, "%.2f", sum);
    const std::string row = rows[1].find(patch[0] == '1' ? " 18 " : " 9 ") != std::string::npos ? rows[1] : rows[2];
    CHECK_THAT(row, Catch::Contains(mean));
  }
  // The folds share no series, and hold all of them; runs that are there are not repeated.
  const auto series_in = [](const std::filesystem::path& file) {
    std::vector<std::string> lines = lines_of(read_text(file));
    lines.erase(lines.begin(), std::find(lines.begin(), lines.end(), "@data") + 1);
    return lines;
  };
  std::vector<std::string> held = series_in(shop / "rule/Waves_fold_0/Waves_TEST.ts"), all = series_in(train);
  const std::vector<std::string> others = series_in(shop / "rule/Waves_fold_1/Waves_TEST.ts");
  CHECK(series_in(shop / "rule/Waves_fold_0/Waves_TRAIN.ts") == others);
  held.insert(held.end(), others.begin(), others.end());
  std::sort(held.begin(), held.end());
  std::sort(all.begin(), all.end());
  CHECK(held == all);
  const std::filesystem::path result = shop / "rule" / (name + "_fold_0_1_1_0.1") / "result.json";
  const auto before = std::filesystem::last_write_time(result);
  CHECK(series_rule(words).out == first.out);
  CHECK(std::filesystem::last_write_time(result) == before);
}

TEST_CASE("series_rule.py: what it cannot run on is one line") {
  const SequenceShop shop;
  const auto refused = [&](const Words& words, const std::string& expected) {
    const ProcessResult result = series_rule(words);
    CHECK(result.exit == 1);
    CHECK(lines_of(result.err).size() == 1);
    CHECK_THAT(result.err, Catch::StartsWith("series_rule.py: ") && Catch::Contains(expected));
  };
  const std::string bin = std::filesystem::path(program_path("geosft-sequence")).parent_path().string(),
                    out = (shop / "rule").string();
  refused({(shop / "absent").string(), "--out", out, "--bin", bin}, "expected one file *_TRAIN.ts, found 0");
  refused({shop.data().string(), "--out", out, "--bin", (shop / "absent").string()}, "no geosft-sequence in");
}

}  // namespace geosft::test::test_series_rule
