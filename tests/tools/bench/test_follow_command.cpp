// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tests/tools/bench/bench_tool.h"
#include "tests/tools/bench/labelled_texts.h"

namespace geosft::bench::test::test_follow_command {
namespace {

using Catch::Contains;

std::vector<std::string> small(const std::string& data) {
  return {"follow",         "--data", data,      "--documents", "4",       "--tokens", "64",       "--steps", "3",
          "--prompt-steps", "2",      "--width", "8",           "--heads", "2",        "--layers", "1"};
}

}  // namespace

TEST_CASE("follow prints both losses, their difference and the attention that was used", "[bench]") {
  const geosft::test::TemporaryFolder folder;
  const std::string file = (folder / "texts.tsv").string();
  write_labelled_texts(file, 20);
  CHECK_THAT(run_bench_well(small(file)).out, Contains("training: step") && Contains("largest difference") &&
                                                  Contains("layer 1: scores up to") && Contains("tuning a prompt"));
  std::vector<std::string> words = small(file);
  for (const char* word : {"--json", "--tolerance", "0.5", "--allow", "0.1"}) words.emplace_back(word);
  const nlohmann::json json = nlohmann::json::parse(run_bench_well(words).out);
  for (const auto& [part, steps] : {std::pair("training", 3), std::pair("prompt", 2)}) {
    INFO(part);
    const auto exact = json[part]["exact"]["losses"].get<std::vector<double>>();
    const auto polynomial = json[part]["polynomial"]["losses"].get<std::vector<double>>();
    REQUIRE((exact.size() == static_cast<size_t>(steps) && polynomial.size() == exact.size()));
    double largest = 0;
    for (size_t i = 0; i < exact.size(); ++i) largest = std::max(largest, std::abs(exact[i] - polynomial[i]));
    CHECK(json[part]["largest_difference"].get<double>() == Approx(largest).epsilon(1e-6));
    CHECK(largest > 0);
    CHECK(largest <= 0.1);
  }
  CHECK(json["attention"][0]["error_bound"] <= 0.5);
}

TEST_CASE("follow fails where the losses part, and refuses wrong use", "[bench]") {
  const geosft::test::TemporaryFolder folder;
  const std::string file = (folder / "texts.tsv").string();
  write_labelled_texts(file, 20);
  std::vector<std::string> words = small(file);
  for (const char* word : {"--allow", "0", "--degree", "0"}) words.emplace_back(word);
  const auto parted = run_bench(words);
  CHECK(parted.exit == 1);
  CHECK_THAT(parted.err, Contains("--allow 0"));
  require_wrong_use({"follow"}, {"--data"});
  require_wrong_use({"follow", "--data", file, "--device", "cuda"}, {"--device"});
  require_wrong_use({"follow", "--data", file, "--heads", "3"}, {"--heads", "32", "3"});
  const auto absent = run_bench(small((folder / "absent").string()));
  CHECK(absent.exit == 1);
  CHECK_THAT(absent.err, Contains("absent"));
}

}  // namespace geosft::bench::test::test_follow_command
