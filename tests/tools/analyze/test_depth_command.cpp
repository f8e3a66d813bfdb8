// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"
#include "tests/tools/analyze/slow_traces.h"
#include "tools/analyze/traced_run.h"

namespace geosft::test::test_depth_command {

TEST_CASE("rank rises and similarity falls over the layers of a trained classifier whose tokens begin equal") {
  const AnalysisShop shop;
  const std::string run = (shop / "equal").string();
  shop.run_well(shop.train("equal", {"--tokens", "ones", "--depth", "3", "--dim", "32", "--epochs", "2"}));
  const std::string out = shop.analyze_well({"depth", run, "--items", "3"});
  CHECK_THAT(out, Catch::StartsWith("width 32"));
  const auto curves = shop.curves();
  const std::vector<double>& rank = curves.at("rank");
  const std::vector<double>& cosine = curves.at("mean cosine");
  REQUIRE(rank.size() == 4);
  CHECK(rank.front() == 1);
  CHECK(rank[1] > 2);       // 5 to 15 for six seeds
  CHECK(rank.back() > 15);  // 24 to 31
  CHECK(cosine.front() == Approx(1.0));
  CHECK(cosine.back() < 0.97);  // 0.61 to 0.89
  TracedRun traced;
  traced.run = run;
  traced.items = 3;
  std::vector<double> ranks(4), cosines(4);
  const EnvironmentVariable cache("XDG_CACHE_HOME", shop.cache().string());
  traced.look([&](const ShapeExplanation& one) {
    for (size_t layer = 0; layer < 4; ++layer) {
      ranks[layer] += static_cast<double>(slow_rank(one.trace.tokens.at(layer))) / 3;
      cosines[layer] += slow_cosine(one.trace.tokens.at(layer)) / 3;
    }
  });
  for (size_t layer = 0; layer < 4; ++layer) {
    CHECK(rank[layer] == Approx(ranks[layer]));
    CHECK(cosine[layer] == Approx(cosines[layer]).epsilon(1e-4));
  }
}

}  // namespace geosft::test::test_depth_command
