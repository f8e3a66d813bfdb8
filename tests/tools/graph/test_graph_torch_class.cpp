// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "data/graphs/packed_graphs_file.h"
#include "tests/tools/experiment/served.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tools/experiment/graph_prediction.h"

namespace geosft::test::test_graph_torch_class {
namespace {

struct ServedRun {
  ServedRun() {
    GraphRun model = small_graph_run(graphs.schema);
    write_run(run, describe_run<GraphLearning>(model.settings, {graphs.schema}, false), *model.model);
  }

  PackedItems graphs = small_graphs();
  TemporaryFolder folder;
  std::string run = (folder / "run").string();
};

// What Python would hand over, with the edges in another order.
std::vector<at::IValue> arguments_of(const FeaturedGraphs& graphs) {
  const CsrGraph& graph = graphs.graphs.graph;
  const at::Tensor order = at::randperm(graph.edges(), generator(3));
  const at::Tensor edges = at::stack({edge_sources(graph), graph.col}).index_select(1, order);
  return {graphs.graphs.ptr,
          edges,
          graphs.node_categories,
          graphs.node_values,
          graphs.edge_categories.index_select(0, order),
          graphs.edge_values.index_select(0, order),
          graphs.coordinates};
}

}  // namespace

TEST_CASE("a RUN of graphs is served by its names and the predictions for a dataset") {
  const ServedRun made;
  const Served served("GraphPredictor", made.run);
  CHECK(served.names("output_names") == std::vector<std::string>{"a", "b", "c"});
  CHECK(served.call("task", {}).toStringRef() == "classification");
  write_packed_graphs(made.folder / "set.h5", made.graphs);
  GraphRun run = load_graph_run(made.run);
  const at::Tensor found = served.call("predict_data", {(made.folder / "set.h5").string()}).toTensor();
  require_equal(found, predict_graphs(run, made.graphs), "predictions");
}

TEST_CASE("graphs that are handed over as lists of edges have the predictions of their dataset") {
  const ServedRun made;
  GraphRun run = load_graph_run(made.run);
  const at::Tensor found = Served("GraphPredictor", made.run).call("predict", arguments_of(made.graphs)).toTensor();
  require_close(found, predict_graphs(run, made.graphs), 1e-5,
                "predictions");  // edges of a node are summed in another order
}

TEST_CASE("a copy of a served RUN of graphs gives the same predictions without its folder") {
  const ServedRun made;
  const Served served("GraphPredictor", made.run);
  const at::Tensor expected = served.call("predict", arguments_of(made.graphs)).toTensor();
  std::filesystem::remove_all(made.run);
  const Served copy = served.copy();
  REQUIRE(copy.names("output_names") == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(copy.call("task", {}).toStringRef() == "classification");
  require_equal(copy.call("predict", arguments_of(made.graphs)).toTensor(), expected, "predictions");
}

TEST_CASE("what is no graph of the run is named") {
  const ServedRun made;
  const Served served("GraphPredictor", made.run);
  const auto refused = [&](size_t place, const at::IValue& value, const std::vector<std::string>& words) {
    std::vector<at::IValue> arguments = arguments_of(made.graphs);
    arguments[place] = value;
    require_error([&] { served.call("predict", arguments); }, words);
  };
  const at::Tensor edges = arguments_of(made.graphs)[1].toTensor();
  refused(0, at::tensor({0.0, 3.0}), {"ptr must be int64"});
  refused(0, at::tensor({0, -3}, at::kLong), {"ptr"});
  refused(0, at::tensor({0, 5, 3, 24}, at::kLong), {"ptr"});
  refused(1, edges.t(), {"edges must be int64 [2, E]"});
  refused(1, edges + 1, {"edges must name nodes from 0 to 23", "24"});
  refused(1, edges - 1, {"edges must name nodes", "-1"});
  refused(2, made.graphs.node_values, {"node_categories must be whole numbers"});
  refused(3, at::IValue(), {"node_values"});
  refused(5, made.graphs.edge_values.slice(0, 0, 1), {"edge_values must have a row for each"});
  require_error([&] { served.call("predict_data", {made.run + "/none"}); }, {"none"});
  require_error([&] { Served("GraphPredictor", made.run + "/nowhere"); }, {"nowhere"});
}

}  // namespace geosft::test::test_graph_torch_class
