// SPDX-License-Identifier: Apache-2.0
// geosft-graph on sets in the form of the Open Graph Benchmark: several splits, directed edges, split nodes.
#include <catch2/catch.hpp>
#include <sstream>

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

// The same paths as one graph of split nodes, without features and labels.
void write_one_graph(const std::filesystem::path& folder) {
  std::string ends;
  for (int node = 0; node < 48; ++node) {
    if (node % 3 < 2) ends += std::to_string(node) + "," + std::to_string(node + 1) + "\n";
  }
  write_text(folder / "raw/num-node-list.csv", "48\n");
  write_text(folder / "raw/num-edge-list.csv", "32\n");
  write_text(folder / "raw/edge.csv", ends);
  const auto write_part = [&](const char* name, int begin, int end) {
    std::string nodes;
    for (int node = begin; node < end; ++node) nodes += std::to_string(node) + "\n";
    write_text(folder / "split/time" / name, nodes);
  };
  write_part("train.csv", 0, 30);
  write_part("valid.csv", 30, 36);
  write_part("test.csv", 36, 48);
}

// Its nodes have classes: the first, middle and last node of a path. What the first and some of the middle nodes have
// for features is the same. Two nodes of the test split have no class.
void write_nodes(const std::filesystem::path& folder) {
  write_one_graph(folder);
  std::string features, labels;
  for (int node = 0; node < 48; ++node) {
    features += std::to_string(node % 3 == 1 ? node / 3 % 2 : node % 3) + "\n";
    labels += node < 46 ? std::to_string(node % 3) + "\n" : "nan\n";
  }
  write_text(folder / "raw/node-feat.csv", features);
  write_text(folder / "raw/node-label.csv", labels);
}

// As ogbn-proteins: edges alone have features, eight numbers, and nodes three labels: whether it is the middle of its
// path, whether the path's edges are strong by their first number (unknown of some), and one that all have.
void write_proteins(const std::filesystem::path& folder) {
  write_one_graph(folder);
  std::string features, labels, species;
  for (int node = 0; node < 48; ++node) {
    const bool strong = node / 3 % 2 == 0;
    const std::string rest = ",0." + std::to_string(node % 7) + ",0,0.25,0,0,0.5,0.001\n";
    if (node % 3 < 2) features += (strong ? "0.9" : "0.1") + rest;
    labels += (node % 3 == 1 ? "1," : "0,") + std::string(node % 11 == 5 ? "" : strong ? "1" : "0") + ",1\n";
    species += node < 36 ? "9606\n" : "4932\n";
  }
  write_text(folder / "raw/edge-feat.csv", features);
  write_text(folder / "raw/node-label.csv", labels);
  write_text(folder / "raw/node_species.csv", species);
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
  // Graphs to test with in one split are trained on in the other.
  shop.require_failure(shop.run({"eval", (shop / "run").string(), "--split-name", "even"}), 1,
                       {data, "split.csv", "item "});
  std::filesystem::remove(shop / "run/split.csv");
  CHECK(count({"--split-name", "even"}) == 4);
  shop.refuses({"info", data}, 1, {"split_name", "even, small"});
  shop.refuses({"info", data, "--split-name", "odd"}, 1, {"odd", "even, small"});
  CHECK_THAT(shop.run_well({"info", data, "--split-name", "even"}).out,
             Catch::Contains("10 train, 2 validation, 4 test") && Catch::Contains("64 directed edges"));
  CHECK_THAT(shop.run_well({"encode", data, "--split-name", "even", "--out", (shop / "pe.h5").string()}).out,
             Catch::Contains("16 graphs, 48 nodes"));
  shop.refuses(shop.train("other", {"--split-name", "even"}), 2, {"--split-name", "a set of the Open Graph Benchmark"});
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
  write_nodes(shop / "ogb");
  write_text(shop / "ogb/split/time/test.csv", "37\n38\n");
  CHECK_THAT(shop.run_well({"info", (shop / "ogb").string()}).out,
             Catch::Contains("node_classification") &&
                 Catch::Contains("published split of the nodes: 30 train, 6 validation, 2 test, 10 in none"));
}

TEST_CASE("nodes of one graph are trained on, evaluated part by part, and predicted") {
  const GraphShop shop;
  write_nodes(shop / "ogb");
  const std::string run = (shop / "run").string();
  const Words more = {
      "--data", (shop / "ogb").string(), "--epochs", "100", "--beta2", "0.9", "--lr", "1e-2", "--metric", "macro_f1",
      "--json"};
  const nlohmann::json trained = nlohmann::json::parse(shop.run_well(shop.train("run", more)).out);
  CHECK(trained.at("task") == "node_classification");
  // A constant predictor has an accuracy of 0.4 at most and a macro F1 of 0.19.
  for (const char* metric : {"accuracy", "macro_f1", "roc_auc"}) CHECK(trained.at("metrics").at(metric) > 0.8);
  const auto evaluated = [&](const Words& words) {
    return nlohmann::json::parse(shop.run_well(Words{"eval", run, "--json"} + words).out);
  };
  CHECK(evaluated({}).at("metrics") == trained.at("metrics"));
  CHECK(evaluated({"--split", "validation"}).at("metrics").at("accuracy") > 0.6);
  CHECK_THAT(read_text(shop / "run" / "metrics.csv"),
             Catch::StartsWith("step,epoch,split,loss,macro_f1,") && Catch::Contains(",validation,"));
  // Nodes of the test split by class, before a line on the checkpoint; those without one count for none.
  const Words lines = lines_of(shop.run_well({"eval", run}).out);
  REQUIRE(lines.size() >= 4);
  const auto count_of = [&](size_t label) {
    std::istringstream words(lines[lines.size() - 4 + label]);
    int64_t name = -1, count = -1;
    words >> name >> count;
    CHECK(name == static_cast<int64_t>(label));
    return count;
  };
  CHECK(count_of(0) == 4);
  CHECK(count_of(1) == 3);
  CHECK(count_of(2) == 3);
  const Words predicted = lines_of(shop.run_well({"predict", run, "--json"}).out);
  REQUIRE(predicted.size() == 1);
  const nlohmann::json classes = nlohmann::json::parse(predicted[0]).at("classes");
  REQUIRE(classes.size() == 48);
  int64_t right = 0;
  for (int node = 0; node < 48; ++node) {
    right += classes[static_cast<size_t>(node)].get<std::string>() == std::to_string(node % 3);
  }
  CHECK(right >= 40);
}

TEST_CASE("labels of nodes that have no features are trained on, evaluated and predicted") {
  const GraphShop shop;
  write_proteins(shop / "ogb");
  const std::string data = (shop / "ogb").string(), run = (shop / "run").string();
  const ProcessResult info = shop.run_well({"info", data});
  CHECK_THAT(info.out, Catch::Contains("task: node_multi_label, 3 targets: label 0") &&
                           Catch::Contains("node categories: none; node values: 0") &&
                           Catch::Contains("edge values: 8") && Catch::Contains("30 train, 6 validation, 12 test"));
  CHECK_THAT(info.err, Catch::Contains("node_species.csv is left out"));
  const Words more = Words{"--data",        data, "--epochs", "300",  "--depth", "2",
                           "--num-samples", "48", "--lr",     "3e-2", "--beta2", "0.9"} +
                     Words{"--weight-decay",    "0", "--score-dropout", "0", "--feed-forward-dropout", "0",
                           "--drop-token-rate", "0", "--json"};
  const nlohmann::json trained = nlohmann::json::parse(shop.run_well(shop.train("run", more)).out);
  CHECK(trained.at("task") == "node_multi_label");
  CHECK(trained.at("metrics").at("roc_auc") > 0.9);
  CHECK(trained.at("metrics").at("average_precision") > 0.9);
  const auto evaluated = [&](const Words& words) {
    return nlohmann::json::parse(shop.run_well(Words{"eval", run, "--json"} + words).out);
  };
  CHECK(evaluated({}).at("metrics") == trained.at("metrics"));
  CHECK_FALSE(evaluated({"--split", "validation"}).at("metrics") == trained.at("metrics"));
  CHECK_THAT(shop.run_well({"eval", run}).out, Catch::Contains("1 graphs of the test split\nroc_auc "));
  CHECK_THAT(read_text(shop / "run" / "metrics.csv"), Catch::StartsWith("step,epoch,split,loss,roc_auc,"));
  const nlohmann::json predicted = nlohmann::json::parse(shop.run_well({"predict", run, "--json"}).out);
  CHECK(predicted.at("labels") == nlohmann::json({"label 0", "label 1", "label 2"}));
  REQUIRE(predicted.at("probabilities").size() == 48);
  int64_t right = 0;
  for (int node = 0; node < 48; ++node) {
    const nlohmann::json& row = predicted.at("probabilities")[static_cast<size_t>(node)];
    right += (row[0] > 0.5) == (node % 3 == 1) && (row[1] > 0.5) == (node / 3 % 2 == 0) && row[2] > 0.5;
  }
  CHECK(right >= 40);
  CHECK_THAT(shop.run_well({"predict", run}).out, Catch::StartsWith("0:  label 1+label 2  label 0+label 1+label 2"));
  CHECK_THAT(shop.run_well({"info", run}).out, Catch::Contains("\"task\":\"node_multi_label\""));
}

}  // namespace geosft::test::test_graph_ogb
