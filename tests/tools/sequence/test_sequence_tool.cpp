// SPDX-License-Identifier: Apache-2.0
// geosft-sequence, end to end.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tools/common/command_line.h"

namespace geosft::test::test_sequence_tool {
namespace fs = std::filesystem;
namespace {

// Slow and fast waves of different lengths, in two dimensions.
std::string waves(int count, int first) {
  std::ostringstream text;
  text
      << "@problemName Waves\n@timeStamps false\n@missing false\n@univariate false\n@dimensions 2\n@equalLength false\n"
         "@classLabel true slow fast\n@data\n";
  for (int i = first; i < first + count; ++i) {
    const bool fast = i % 2 == 1;
    for (const double shift : {0.0, 1.5}) {
      for (int t = 0; t < 12 + i % 7; ++t) text << (t > 0 ? "," : "") << std::sin((fast ? 2.0 : 0.5) * t + i + shift);
      text << ':';
    }
    text << (fast ? "fast\n" : "slow\n");
  }
  return text.str();
}

class SequenceWorkshop {
 public:
  SequenceWorkshop() {
    write_text(data() / "Waves_TRAIN.ts", waves(40, 0));
    write_text(data() / "Waves_TEST.ts", waves(20, 40));
  }
  fs::path data() const { return folder_ / "data"; }
  fs::path operator/(const std::string& name) const { return folder_ / name; }

  ProcessResult run(const Words& words) const { return run_process(GEOSFT_SEQUENCE, words, {}); }
  std::string run_well(const Words& words) const {
    const ProcessResult result = run(words);
    INFO(result.err);
    REQUIRE(result.signal == 0);
    REQUIRE(result.exit == 0);
    return result.out;
  }
  Words train(const std::string& out, const Words& more = {}) const {
    return Words{"train", "--data", data().string(), "--out", (folder_ / out).string(), "--json", "--seed", "1"} +
           Words{"--width", "16", "--heads", "4", "--layers", "1", "--epochs", "40", "--batch-size", "8"} +
           Words{"--learning-rate", "3e-3", "--beta2", "0.9", "--no-relative", "--positions", "added"} + more;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("sequences are trained on by the primal-dual family, by a polynomial and by sampling attention") {
  const SequenceWorkshop shop;
  const std::vector<Words> attentions = {
      {"--attention", "bn", "--precision", "bfloat16"},
      {"--attention", "softmax"},
      {"--attention", "polynomial", "--degree", "4"},
      {"--attention", "bn_sh", "--beta", "0.4"},
      {"--attention", "linear_bn"},
      {"--attention", "sparse_sh", "--mask-size", "4"},
      {"--attention", "conv1d"},
      {"--attention", "sampling", "--probability", "softmax", "--positions", "relative", "--bins", "6"}};
  for (const Words& attention : attentions) {
    INFO(attention[1]);
    const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train(attention[1], attention)));
    CHECK(result.at("count") == 20);
    CHECK(result.at("metrics").at("accuracy") > 0.8);
  }
}

TEST_CASE("a trained sequence model is evaluated, applied and described") {
  const SequenceWorkshop shop;
  const std::string trained = shop.run_well(shop.train("run", {"--attention", "bn_sh"}));
  const std::string run = (shop / "run").string();
  const nlohmann::json evaluated = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}));
  CHECK(evaluated.at("metrics") == nlohmann::json::parse(trained).at("metrics"));
  CHECK_THAT(shop.run_well({"eval", run}), Catch::Contains("20 sequences of the test part"));
  CHECK(lines_of(shop.run_well({"predict", run, "--split", "test", "--json"})).size() == 20);
  CHECK_FALSE(evaluated.contains("head_distances"));
  const nlohmann::json heads = nlohmann::json::parse(shop.run_well({"eval", run, "--json", "--heads"}));
  REQUIRE(heads.at("head_distances").size() == 1);
  CHECK(heads.at("head_distances")[0] > 0.0);
  CHECK_THAT(shop.run_well({"eval", run, "--heads"}), Catch::Contains("layer 1: results of heads "));
  CHECK_THAT(shop.run_well({"info", shop.data().string()}), Catch::Contains("60 sequences"));
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("attention = \"bn_sh\""));
}

TEST_CASE("pairs of documents are told apart by what they have in common") {
  const SequenceWorkshop shop;
  std::string pairs;
  for (int i = 0; i < 48; ++i) {
    const char first = i % 4 < 2 ? 'a' : 'z', second = i % 2 == 0 ? 'a' : 'z';
    const std::string a(3 + static_cast<size_t>(i % 5), first), b(4 + static_cast<size_t>(i % 3), second);
    pairs += std::string(first == second ? "1" : "0") + "\tP\tQ\t" + a + "\t" + b + "\n";
  }
  write_text(shop / "pairs/set.train.tsv", pairs);
  write_text(shop / "pairs/set.test.tsv", pairs);
  const Words words = {"--data", (shop / "pairs").string(), "--attention", "bn_sh"};
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train("run", words)));
  CHECK(result.at("count") == 48);
  CHECK(result.at("metrics").at("accuracy") > 0.95);
  CHECK_THAT(shop.run_well({"info", (shop / "run").string()}), Catch::Contains("\"documents\":true"));
}

TEST_CASE("a sweep over attentions ends with a table") {
  const SequenceWorkshop shop;
  const Words sweep = Words{"sweep", "--data", shop.data().string(), "--out", (shop / "sweep").string()} +
                      Words{"--set", "width=8", "--set", "heads=2", "--set", "layers=1", "--set", "epochs=1"} +
                      Words{"--set", "relative=false", "--vary", "attention=softmax,bn,sh"};
  CHECK(lines_of(shop.run_well(sweep)).size() == 2 + 3);
}

TEST_CASE("wrong use of geosft-sequence is one line") {
  const SequenceWorkshop shop;
  const auto refused = [&](const Words& more, int exit, const Words& expected) {
    require_tool_failure("geosft-sequence", shop.run(shop.train("run", more)), exit, expected);
  };
  refused({"--attention", "cosine"}, 2, {"attention", "cosine", "softmax"});
  refused({"--attention", "conv2d"}, 2, {"conv2d", "grid"});
  refused({"--attention", "sh", "--pool", "1,2"}, 2, {"pool", "4 heads"});
  write_text(shop.data() / "Waves_TEST.ts", "@timeStamps true\n");
  refused({}, 1, {"Waves_TEST.ts", "time stamps"});
}

TEST_CASE("BasicMotions is learned from its files") {
  const fs::path data = real_data("uea/BasicMotions");
  if (data.empty()) return;
  const SequenceWorkshop shop;
  const Words words = {"--data", data.string(), "--epochs", "30", "--attention", "bn_sh", "--beta", "0.1"};
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train("run", words)));
  CHECK(result.at("count") == 40);
  CHECK(result.at("metrics").at("accuracy") > 0.8);
}

}  // namespace geosft::test::test_sequence_tool
