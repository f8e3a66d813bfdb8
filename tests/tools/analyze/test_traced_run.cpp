// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/traced_run.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "tests/support.h"
#include "tests/tools/analyze/analyze_tool.h"
#include "tests/tools/analyze/slow_traces.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_traced_run {

TEST_CASE("clouds are looked at evenly over the test split, and not more than there are") {
  const AnalysisShop shop;
  TracedRun traced;
  traced.run = shop.trained();
  std::vector<std::string> names;
  const auto note = [&](const ShapeExplanation& found) {
    names.push_back(found.seen.name);
    CHECK(found.trace.layers.size() == 1);
  };
  traced.items = 3;
  traced.look(note);
  CHECK(names.size() == 3);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == 3);
  names.clear();
  traced.items = 100;
  traced.look(note);
  CHECK(names.size() == 6);
}

TEST_CASE("data of a run that moved since its training are an error that says so") {
  const AnalysisShop shop;
  TracedRun traced;
  traced.run = shop.trained();
  std::filesystem::rename(shop.data(), shop / "moved");
  require_error([&] { traced.look([](const ShapeExplanation&) {}); },
                {shop.data().string(), traced.run + " was trained on", "--data DIR"});
}

TEST_CASE("models whose attention is over all tokens are looked into as well") {
  const AnalysisShop shop;
  for (const std::string attention : {"softmax", "polynomial"}) {
    shop.run_well(shop.train(attention, {"--attention", attention, "--depth", "2", "--epochs", "1"}));
    INFO(attention);
    TracedRun traced;
    traced.run = (shop / attention).string();
    traced.items = 2;
    std::vector<double> ranks(3), cosines(3), distances(2);
    const EnvironmentVariable cache("XDG_CACHE_HOME", shop.cache().string());
    traced.look([&](const ShapeExplanation& one) {
      for (size_t layer = 0; layer < 3; ++layer) {
        ranks[layer] += static_cast<double>(slow_rank(one.trace.tokens.at(layer))) / 2;
        cosines[layer] += slow_cosine(one.trace.tokens.at(layer)) / 2;
      }
      for (size_t layer = 0; layer < 2; ++layer) distances[layer] += slow_distance(one.trace.layers.at(layer)) / 2;
    });
    shop.analyze_well({"depth", traced.run, "--items", "2"});
    const auto depth = shop.curves();
    CHECK(depth.at("rank") == ranks);
    REQUIRE(depth.at("mean cosine").size() == 3);
    for (size_t i = 0; i < 3; ++i) CHECK(depth.at("mean cosine")[i] == Approx(cosines[i]).epsilon(1e-4).margin(1e-5));
    shop.analyze_well({"heads", traced.run, "--items", "2"});
    const std::vector<double> found = shop.curves().begin()->second;
    REQUIRE(found.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
      CHECK(found[i] == Approx(distances[i]).epsilon(1e-4));
      CHECK(found[i] > 0);
    }
  }
}

TEST_CASE("one head has no other to differ from") {
  const AnalysisShop shop;
  shop.run_well(shop.train("one", {"--num-heads", "1", "--epochs", "1"}));
  const ProcessResult result = shop.analyze({"heads", (shop / "one").string()});
  require_tool_failure("geosft-analyze", result, 2, {"one head"});
}

TEST_CASE("a device that is not there is refused") {
  const AnalysisShop shop;
  const std::string run = shop.trained();
  for (const char* subcommand : {"depth", "heads"}) {
    require_tool_failure("geosft-analyze", shop.analyze({subcommand, run, "--device", "cuda:99"}), 2,
                         {"--device cuda:99"});
  }
}

TEST_CASE("one sample is looked into: there are no votes to choose") {
  const AnalysisShop shop;
  const std::string run = shop.trained();
  for (const char* subcommand : {"depth", "heads"}) {
    require_tool_failure("geosft-analyze", shop.analyze({subcommand, run, "--votes", "2"}), 2, {"--votes"});
  }
}

TEST_CASE("a run that is none is refused in one line") {
  const AnalysisShop shop;
  for (const char* subcommand : {"depth", "heads"}) {
    const ProcessResult result = shop.analyze({subcommand, (shop / "absent").string()});
    require_tool_failure("geosft-analyze", result, 1, {"absent"});
  }
}

}  // namespace geosft::test::test_traced_run
