// SPDX-License-Identifier: Apache-2.0
// geosft-graph on sets in the form of the Open Graph Benchmark: several splits, directed edges, split nodes.
#include <catch2/catch.hpp>

#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_ogb {
namespace {

// Sixteen paths of three nodes, each edge listed once; the class says whether the middle node has category 1. Two
// splits.
void write_paths(const std::filesystem::path& folder) {
  std::string nodes, edges, ends, features, labels;
  for (int graph = 0; graph < 16; ++graph) {
    nodes += "3\n";
    edges += "2\n";
    ends += "0,1\n1,2\n";
    features += "0\n" + std::to_string(graph % 2) + "\n2\n";
    labels += std::to_string(graph % 2 == 0 ? 0 : 2) + "\n";
  }
  write_text(folder / "raw/num-node-list.csv", nodes);
  write_text(folder / "raw/num-edge-list.csv", edges);
  write_text(folder / "raw/edge.csv", ends);
  write_text(folder / "raw/node-feat.csv", features);
  write_text(folder / "raw/graph-label.csv", labels);
  write_text(folder / "split/even/train.csv", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  write_text(folder / "split/even/valid.csv", "10\n11\n");
  write_text(folder / "split/even/test.csv", "12\n13\n14\n15\n");
  write_text(folder / "split/small/train.csv", "0\n1\n2\n3\n");
  write_text(folder / "split/small/valid.csv", "4\n");
  write_text(folder / "split/small/test.csv", "5\n6\n");
}

}  // namespace

TEST_CASE("one of several published splits is chosen by its name, wherever data are read") {
  const GraphShop shop;
  write_paths(shop / "ogb");
  const std::string data = (shop / "ogb").string();
  const Words train = shop.train("run", {"--data", data});
  shop.refuses(train, 1, {"split", "split_name", "even, small"});
  shop.run_well(train + Words{"--split-name", "small"});
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("split_name = \"small\""));
  const auto count = [&](const Words& more) {
    const Words words = {"eval", (shop / "run").string(), "--json"};
    return nlohmann::json::parse(shop.run_well(words + more).out).at("count").get<int>();
  };
  CHECK(count({}) == 2);
  CHECK(count({"--split-name", "even"}) == 4);
  shop.refuses({"info", data}, 1, {"split_name", "even, small"});
  shop.refuses({"info", data, "--split-name", "odd"}, 1, {"odd", "even, small"});
  CHECK_THAT(shop.run_well({"info", data, "--split-name", "even"}).out,
             Catch::Contains("10 train, 2 validation, 4 test") && Catch::Contains("64 directed edges"));
  CHECK_THAT(shop.run_well({"encode", data, "--split-name", "even", "--out", (shop / "pe.h5").string()}).out,
             Catch::Contains("16 graphs, 48 nodes"));
  shop.refuses(shop.train("other", {"--split-name", "even"}), 1, {"splits", "even", "OGB"});
}

TEST_CASE("edges are left as they are listed where that is asked for") {
  const GraphShop shop;
  write_paths(shop / "ogb");
  const Words data = {(shop / "ogb").string(), "--split-name", "small", "--directed"};
  CHECK_THAT(shop.run_well(Words{"info"} + data).out, Catch::Contains("32 directed edges"));
  shop.run_well(shop.train("run", Words{"--data"} + data));
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("directed = true"));
  shop.run_well({"eval", (shop / "run").string()});
}

TEST_CASE("info says how nodes are split") {
  const GraphShop shop;
  write_paths(shop / "ogb");
  std::filesystem::remove_all(shop / "ogb/split");
  std::filesystem::remove(shop / "ogb/raw/graph-label.csv");
  write_text(shop / "ogb/raw/num-node-list.csv", "48\n");
  write_text(shop / "ogb/raw/num-edge-list.csv", "32\n");
  std::string labels;
  for (int node = 0; node < 48; ++node) labels += std::to_string(node % 3) + "\n";
  write_text(shop / "ogb/raw/node-label.csv", labels);
  write_text(shop / "ogb/split/time/train.csv", "0\n1\n2\n");
  write_text(shop / "ogb/split/time/valid.csv", "5\n");
  write_text(shop / "ogb/split/time/test.csv", "7\n8\n");
  CHECK_THAT(shop.run_well({"info", (shop / "ogb").string()}).out,
             Catch::Contains("node_classification") &&
                 Catch::Contains("published split of the nodes: 3 train, 1 validation, 2 test, 42 in none"));
}

}  // namespace geosft::test::test_graph_ogb
