// SPDX-License-Identifier: Apache-2.0
#include "data/packed_items.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "tests/data/graphs/small_graphs.h"

namespace geosft::test::test_packed_items {
namespace {

void require_refused(const std::function<void(PackedItems&)>& change, const std::vector<std::string>& words,
                     GraphTask task = GraphTask::classification) {
  PackedItems packed = small_graphs(task);
  check_packed_items(packed, "set");
  change(packed);
  std::vector<std::string> expected = {"set"};
  expected.insert(expected.end(), words.begin(), words.end());
  require_error([&] { check_packed_items(packed, "set"); }, expected);
}

}  // namespace

TEST_CASE("packed graphs of every task are accepted") {
  for (const GraphTask task : graph_tasks) {
    PackedItems packed = small_graphs(task);
    packed.split = DatasetSplit{{0, 1, 2}, {5}, {3, 4}};
    if (is_of_nodes(task)) packed.node_split = at::arange(packed.graphs.graph.nodes()) % 4 - 1;
    packed.graph_features = at::full({7, 3}, std::numeric_limits<float>::quiet_NaN());
    check_packed_items(packed, "set");
    CHECK(packed.size() == 7);
  }
}

TEST_CASE("tasks have names, and are of graphs or nodes, classes or labels") {
  CHECK(std::string(task_name(GraphTask::classification)) == "classification");
  CHECK(std::string(task_name(GraphTask::multi_label)) == "multi_label");
  CHECK(std::string(task_name(GraphTask::regression)) == "regression");
  CHECK(std::string(task_name(GraphTask::node_classification)) == "node_classification");
  CHECK(std::string(task_name(GraphTask::node_multi_label)) == "node_multi_label");
  for (const GraphTask task : graph_tasks) {
    CHECK(task_named(task_name(task)) == task);
    CHECK(has_classes(task) == (task == GraphTask::classification || task == GraphTask::node_classification));
    CHECK(has_labels(task) == (task == GraphTask::multi_label || task == GraphTask::node_multi_label));
    CHECK(is_of_nodes(task) == (task == GraphTask::node_classification || task == GraphTask::node_multi_label));
  }
  CHECK_FALSE(task_named("sorting"));
}

TEST_CASE("what does not fit the schema is named") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  require_refused([](PackedItems& p) { p.node_categories[2][1] = 5; }, {"node_categories", "0 to 4", "found 5"});
  require_refused([](PackedItems& p) { p.edge_categories[0][0] = -1; }, {"edge_categories", "found -1"});
  require_refused([](PackedItems& p) { p.node_categories = at::Tensor(); }, {"node_categories", "[24, 2]", "none"});
  require_refused([](PackedItems& p) { p.schema.edge_vocabulary = {}; }, {"edge_categories", "none"});
  require_refused([](PackedItems& p) { p.schema.grid_height = p.schema.grid_width = 2; }, {"ptr", "4 nodes", "grid"});
  require_refused([](PackedItems& p) { p.schema.documents = true; }, {"node_vocabulary", "documents"});
  require_refused([](PackedItems& p) { p.schema.graph_features = 2; }, {"graph_features", "[7, 2]", "none"});
  for (const int64_t seen : {0, 2}) {  // models need not see them
    const auto refused = [&](const at::Tensor& features, const std::vector<std::string>& words) {
      require_refused(
          [&](PackedItems& p) {
            p.schema.graph_features = seen;
            p.graph_features = features;
          },
          words);
    };
    refused(at::zeros({6, 2}), {"graph_features", "[7, 2]", "[6, 2]"});
    refused(at::zeros({7, 2}, at::kDouble), {"graph_features", "Double"});
    refused(at::full({7, 2}, infinity), {"graph_features", "infinity"});
    refused(at::zeros({7}), {"graph_features"});
  }
  require_refused([](PackedItems& p) { p.smiles = {"C"}; }, {"smiles", "none, or one for each of the 7 graphs"});
  require_refused([](PackedItems& p) { p.lines = {2}; }, {"lines", "none, or one for each of the 7 graphs"});
  require_refused([](PackedItems& p) { p.names = {"a"}; }, {"names", "none, or one for each of the 7 graphs"});
  require_refused(
      [](PackedItems& p) {
        p.schema.documents = true;
        p.schema.node_vocabulary[1] = 2;
        p.node_categories.select(1, 1).zero_();
        p.node_categories[0][1] = 1;
      },
      {"node_categories", "first document"});
  require_refused([&](PackedItems& p) { p.node_values[0][0] = nan; }, {"node_values", "NaN"});
  require_refused([](PackedItems& p) { p.edge_values = p.edge_values.narrow(1, 0, 1); }, {"edge_values"});
  require_refused([](PackedItems& p) { p.schema.node_values = 0; }, {"node_values", "none"});
  require_refused([](PackedItems& p) { p.coordinates = p.coordinates.to(at::kDouble); }, {"coordinates", "Float"});
  require_refused([](PackedItems& p) { p.target[0] = 3; }, {"target", "0 to 2", "found 3"});
  require_refused([](PackedItems& p) { p.target[0] = -1; }, {"target", "found -1"});
  require_refused([](PackedItems& p) { p.target = p.target.narrow(0, 0, 6); }, {"target", "[7]", "[6]"});
  require_refused([&](PackedItems& p) { p.target[1][1] = infinity; }, {"target", "infinity"}, GraphTask::regression);
  require_refused([](PackedItems& p) { p.target[1][1] = 2; }, {"target", "1, 0, or NaN"}, GraphTask::multi_label);
  require_refused([](PackedItems& p) { p.target[1][1] = 2; }, {"target", "1, 0, or NaN"}, GraphTask::node_multi_label);
  require_refused([](PackedItems& p) { p.target = p.target.narrow(0, 0, 7); }, {"target", "[24, 3]", "[7, 3]"},
                  GraphTask::node_multi_label);
  require_refused([](PackedItems& p) { p.target[1] = -2; }, {"target", "found -2"}, GraphTask::node_classification);
  require_refused([](PackedItems& p) { p.schema.output_names[1] = "a"; }, {"output_names", "distinct"});
  require_refused([](PackedItems& p) { p.schema.output_names[1] = " b"; }, {"output_names"});
  require_refused([](PackedItems& p) { p.split = DatasetSplit{{0, 7}, {}, {}}; }, {"split", "0 … 6", "found 7"});
  require_refused([](PackedItems& p) { p.split = DatasetSplit{{0}, {1}, {0}}; }, {"split", "graph 0 twice"});
  require_refused([](PackedItems& p) { p.node_split = at::full({24}, 3, at::kLong); }, {"node_split", "found 3"});
  require_refused([](PackedItems& p) { p.node_split = at::arange(24) % 3; }, {"node_split", "task classification"});
}

TEST_CASE("missing labels and targets are NaN") {
  for (const GraphTask task : {GraphTask::multi_label, GraphTask::regression, GraphTask::node_multi_label}) {
    PackedItems packed = small_graphs(task);
    packed.target[3][1] = std::numeric_limits<float>::quiet_NaN();
    CHECK_NOTHROW(check_packed_items(packed, "set"));
  }
}

}  // namespace geosft::test::test_packed_items
