// SPDX-License-Identifier: Apache-2.0
#include "tools/view/graph_gallery.h"

#include <catch2/catch.hpp>

#include "tests/tools/experiment/small_graph_model.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/graph_evaluation.h"
#include "tools/experiment/graph_prediction.h"

namespace geosft::test::test_graph_gallery {
using namespace view;

TEST_CASE("a graph has places, edges once, walks, and what a model makes of it") {
  const PackedItems set = small_graphs();
  const int64_t nodes = (set.graphs.ptr[1] - set.graphs.ptr[0]).item<int64_t>();
  for (const bool with_model : {false, true}) {
    std::optional<GraphRun> trained;
    if (with_model) trained = small_graph_run(set.schema);
    GraphGallery gallery(set, "small", std::move(trained), {.layout = GraphLayout::force_directed, .walk_steps = 5});
    REQUIRE(gallery.size() == set.size());
    const Subject subject = gallery.get(0, false);
    CHECK(subject.is_graph());
    CHECK(subject.points.sizes() == at::IntArrayRef({nodes, 3}));
    CHECK(subject.encoding.sizes() == at::IntArrayRef({nodes, 5}));
    CHECK((subject.edges.select(1, 0) < subject.edges.select(1, 1)).all().item<bool>());
    CHECK(subject.layers() == (with_model ? 1 : 0));
    CHECK(subject.prediction.empty() == !with_model);
    CHECK(subject.name == "small 0");
  }
  PackedItems named = set;
  for (int64_t item = 0; item < set.size(); ++item) named.names.push_back("m" + std::to_string(item) + ".xyz");
  CHECK(GraphGallery(named, "small", std::nullopt, {}).get(1, false).name == "small 1: m1.xyz");
}

TEST_CASE("nodes that have coordinates lie there") {
  const PackedItems set = small_graphs();
  GraphGallery gallery(set, "small", std::nullopt, {});
  const at::Tensor expected = items_of(set, {1}).coordinates;
  require_equal(gallery.get(1, false).points, expected.to(at::kDouble), "places");
}

TEST_CASE("a prediction is over all votes, the trace of the first one") {
  const PackedItems set = small_graphs(GraphTask::regression);
  const auto looked = [&](int64_t votes) {
    GraphSettings settings = small_graph_settings();
    settings.evaluation.votes = votes;
    return GraphGallery(set, "small", small_graph_run(set.schema, settings), {}).get(2, false);
  };
  GraphSettings settings = small_graph_settings();
  settings.evaluation.votes = 5;
  GraphRun run = small_graph_run(set.schema, settings);
  const at::Tensor outputs = graph_outputs(run.model, set, {2}, GraphSplit::test, settings.evaluation).outputs;
  const at::Tensor in_unit = in_units(run.model, set.schema.task, outputs);
  const Subject one = looked(1), five = looked(5);
  CHECK(five.prediction == prediction_text(set.schema, in_unit[0], 1).substr(2));
  CHECK(five.prediction != one.prediction);
  require_equal(five.trace->layers[0].pairs.top, one.trace->layers[0].pairs.top, "drawn");
}

TEST_CASE("a prediction is that of the network and the regression of a run") {
  PackedItems set = small_graphs();
  set.graph_features = at::randn({7, 4}, generator(3));
  GraphRun run = small_graph_run(set.schema);
  const auto expected = [&] {
    const at::Tensor outputs = run_outputs(run, set, {2}, GraphSplit::test).outputs;
    return prediction_text(set.schema, in_units(run.model, set.schema.task, outputs)[0], 1).substr(2);
  };
  const std::string alone = expected();
  KernelRidgeOptions options;
  options.classes = true;
  run.companion.regression = std::make_shared<const KernelRidge>(KernelRidge::fit(
      set.graph_features, at::one_hot(set.target, 3).to(at::kDouble), at::arange(7, at::kLong), options));
  run.companion.weight = 0.9;
  const std::string both = expected();
  CHECK(both != alone);
  CHECK(GraphGallery(set, "small", std::move(run), {}).get(2, false).prediction == both);
}

TEST_CASE("layouts and copies that a set cannot have are refused") {
  PackedItems set = small_graphs();
  set.schema.coordinates = false;
  const auto make = [&] { return GraphGallery(set, "small", std::nullopt, {.layout = GraphLayout::coordinates}); };
  CHECK_THROWS_AS(make(), UsageError);
  GraphGallery gallery(set, "small", std::nullopt, {});
  CHECK_THROWS_AS(gallery.get(0, true), UsageError);
  CHECK(graph_layout_of("spectral") == GraphLayout::spectral);
  require_error([] { graph_layout_of("round"); }, {"spectral", "spring", "round"});
}

}  // namespace geosft::test::test_graph_gallery
