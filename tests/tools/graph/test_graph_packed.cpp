// SPDX-License-Identifier: Apache-2.0
// geosft-graph on a file of packed graphs, as superpixels are converted to: nodes of many graphs have classes.
#include <catch2/catch.hpp>

#include "data/graphs/packed_graphs_file.h"
#include "tests/graph/featured.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_packed {
namespace {

// Twenty graphs of five to nine nodes, whose class is the sign of their first value.
PackedItems superpixels() {
  std::vector<int64_t> sizes;
  for (int64_t graph = 0; graph < 20; ++graph) sizes.push_back(5 + graph % 5);
  PackedItems packed;
  static_cast<FeaturedGraphs&>(packed) = featured_graphs(sizes, 31);
  packed.node_categories = packed.edge_categories = packed.coordinates = packed.node_encoding = at::Tensor();
  packed.schema = {GraphTask::node_classification, {}, 2, {}, 2, false, {"sky", "sea"}};
  packed.target = packed.node_values.select(1, 0).gt(0).to(at::kLong);
  packed.split = DatasetSplit{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {12, 13, 14, 15}, {16, 17, 18, 19}};
  return packed;
}

}  // namespace

TEST_CASE("nodes of packed graphs are trained on by their published split, by the metric that is named") {
  const GraphShop shop;
  const PackedItems packed = superpixels();
  write_packed_graphs(shop / "set.h5", packed);
  const std::string data = (shop / "set.h5").string(), run = (shop / "run").string();
  CHECK_THAT(shop.run_well({"info", data}).out, Catch::Contains("node_classification, 2 classes: sky") &&
                                                    Catch::Contains("12 train, 4 validation, 4 test"));
  const Words more = {"--data", data,   "--epochs", "60",       "--beta2", "0.9",
                      "--lr",   "1e-2", "--metric", "macro_f1", "--json"};
  const nlohmann::json trained = nlohmann::json::parse(shop.run_well(shop.train("run", more)).out);
  CHECK(trained.at("task") == "node_classification");
  CHECK(trained.at("count") == 4);
  // A constant predictor has a macro F1 of at most a half.
  CHECK(trained.at("metrics").at("macro_f1") > 0.75);
  CHECK_THAT(read_text(shop / "run" / "metrics.csv"), Catch::StartsWith("step,epoch,split,loss,macro_f1,"));
  const nlohmann::json greedy =
      nlohmann::json::parse(shop.run_well({"eval", run, "--json", "--evaluation", "greedy", "--renumber", "3"}).out);
  CHECK(greedy.at("max_logit_difference") < 1e-3);
  const Words lines = lines_of(shop.run_well({"predict", run, "--split", "test", "--json"}).out);
  REQUIRE(lines.size() == 4);
  int64_t right = 0, nodes = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const nlohmann::json line = nlohmann::json::parse(lines[i]);
    CHECK(line.at("graph") == 16 + i);
    const nlohmann::json& classes = line.at("classes");
    const int64_t begin = packed.graphs.ptr[static_cast<int64_t>(16 + i)].item<int64_t>();
    for (size_t node = 0; node < classes.size(); ++node) {
      const bool sea = packed.target[begin + static_cast<int64_t>(node)].item<int64_t>() == 1;
      right += classes[node].get<std::string>() == (sea ? "sea" : "sky");
      ++nodes;
    }
  }
  CHECK(nodes == 6 + 7 + 8 + 9);
  CHECK(right >= nodes * 3 / 4);
}

}  // namespace geosft::test::test_graph_packed
