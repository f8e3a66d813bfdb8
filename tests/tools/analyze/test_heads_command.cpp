// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "data/checkpoint.h"
#include "tests/tools/analyze/analyze_tool.h"
#include "tests/tools/analyze/slow_traces.h"
#include "tools/analyze/traced_run.h"

namespace geosft::test::test_heads_command {
namespace {

constexpr int64_t head_count = 4;

// A run of two layers.
std::filesystem::path deep_run(const AnalysisShop& shop) {
  shop.run_well(
      shop.train("deep", {"--depth", "2", "--epochs", "1", "--dim", "32", "--num-heads", "4", "--num-samples", "16"}));
  return shop / "deep";
}

// What the command found, layer by layer.
std::vector<double> found_distances(const AnalysisShop& shop) {
  const auto curves = shop.curves();
  REQUIRE(curves.size() == 1);
  return curves.begin()->second;
}

// Gives all heads of a layer what the first one has, but for its values. How many tensors that were.
int64_t make_heads_equal(Checkpoint& checkpoint, const std::string& layer) {
  int64_t changed = 0;
  for (auto& [name, tensor] : checkpoint.tensors) {
    const std::string attention = "model.encoder.layers." + layer + ".attention.";
    if (name.rfind(attention, 0) != 0) continue;
    const std::string what = name.substr(attention.size());
    const bool by_rows = what.rfind("query.", 0) == 0 || what.rfind("key.", 0) == 0 || what.rfind("leak.", 0) == 0;
    const bool by_columns = what == "w_mul" || what == "b_mul" || what == "w_add" || what == "b_add";
    if (!by_rows && !by_columns) continue;
    const at::Tensor heads = by_rows ? tensor.view({head_count, -1}) : tensor.view({-1, head_count}).t();
    heads.copy_(heads.slice(0, 0, 1).clone().expand_as(heads));
    ++changed;
  }
  return changed;
}

}  // namespace

TEST_CASE("heads are as far apart as their attention is, layer by layer") {
  const AnalysisShop shop;
  TracedRun traced;
  traced.run = deep_run(shop).string();
  traced.items = 2;
  const Words lines = lines_of(shop.analyze_well({"heads", traced.run, "--items", "2"}));
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[1], Catch::StartsWith("layer 2: mean distance"));
  const std::vector<double> found = found_distances(shop);
  REQUIRE(found.size() == 2);
  std::vector<double> expected(2, 0.0);
  const EnvironmentVariable cache("XDG_CACHE_HOME", shop.cache().string());
  traced.look([&](const ShapeExplanation& one) {
    REQUIRE(one.trace.layers.size() == 2);
    for (size_t layer = 0; layer < 2; ++layer) expected[layer] += slow_distance(one.trace.layers[layer]) / 2;
  });
  for (size_t layer = 0; layer < 2; ++layer) {
    CHECK(found[layer] == Approx(expected[layer]).epsilon(1e-4));
    CHECK(found[layer] > 0.001);
  }
  CHECK(found[0] != Approx(found[1]).epsilon(1e-3));  // so that one layer cannot stand for the other
}

TEST_CASE("heads that look alike are not apart, in their layer alone") {
  const AnalysisShop shop;
  const std::filesystem::path run = deep_run(shop);
  Checkpoint checkpoint = load_checkpoint(run / "best.ckpt");
  // Weight and bias of queries, keys and leak; factor and summand of what lies between points, with theirs.
  REQUIRE(make_heads_equal(checkpoint, "0") == 10);
  save_checkpoint(shop / "alike.ckpt", checkpoint);
  shop.analyze_well({"heads", (shop / "alike.ckpt").string(), "--items", "2"});
  const std::vector<double> found = found_distances(shop);
  REQUIRE(found.size() == 2);
  CHECK(found[0] < 1e-5);
  CHECK(found[1] > 0.001);
}

}  // namespace geosft::test::test_heads_command
