// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/traced_run.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/tools/analyze/analyze_tool.h"
#include "tools/common/arguments.h"

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

TEST_CASE("models whose attention is over all tokens are looked into as well") {
  const AnalysisShop shop;
  for (const std::string attention : {"softmax", "polynomial"}) {
    shop.run_well(shop.train(attention, {"--attention", attention, "--layers", "2", "--epochs", "1"}));
    const std::string run = (shop / attention).string();
    shop.analyze_well({"depth", run, "--items", "2"});
    CHECK(shop.curves().at("rank").size() == 3);
    shop.analyze_well({"heads", run, "--items", "2"});
    const auto curves = shop.curves();
    for (const double distance : curves.begin()->second) CHECK(distance > 0);
  }
}

TEST_CASE("one head has no other to differ from") {
  const AnalysisShop shop;
  shop.run_well(shop.train("one", {"--heads", "1", "--epochs", "1"}));
  const ProcessResult result = shop.analyze({"heads", (shop / "one").string()});
  require_tool_failure("geosft-analyze", result, 2, {"one head"});
}

TEST_CASE("a device that is not there is refused") {
  const AnalysisShop shop;
  const std::string run = shop.trained();
  for (const char* verb : {"depth", "heads"}) {
    require_tool_failure("geosft-analyze", shop.analyze({verb, run, "--device", "cuda:99"}), 2, {"--device cuda:99"});
  }
}

TEST_CASE("one draw is looked into: there are no votes to choose") {
  const AnalysisShop shop;
  const std::string run = shop.trained();
  for (const char* verb : {"depth", "heads"}) {
    require_tool_failure("geosft-analyze", shop.analyze({verb, run, "--votes", "2"}), 2, {"--votes"});
  }
}

TEST_CASE("a run that is none is refused in one line") {
  const AnalysisShop shop;
  for (const char* verb : {"depth", "heads"}) {
    const ProcessResult result = shop.analyze({verb, (shop / "absent").string()});
    require_tool_failure("geosft-analyze", result, 1, {"absent"});
  }
}

}  // namespace geosft::test::test_traced_run
