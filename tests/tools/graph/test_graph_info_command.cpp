// SPDX-License-Identifier: Apache-2.0
// geosft-graph info, and what all its subcommands share.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_info_command {

TEST_CASE("info describes graph runs, checkpoints and datasets") {
  const GraphShop shop;
  const std::string run = shop.trained();
  shop.require_info({"dim = 16", "\"output_names\":[\"-1\",\"1\"]", "encoder.layers.0.attention"});
  const std::string data = shop.run_well({"info", shop.data().string(), "--threads", "1", "--seed", "7"}).out;
  CHECK_THAT(data, Catch::Contains("24 graphs") && Catch::Contains("-1 (12), 1 (12)") &&
                       Catch::Contains("1 to 8 nodes") && Catch::Contains("node categories: columns of 3"));
  write_text(shop / "g.csv", "0,5\n5,9\n9,5\n");
  const auto of_graph = [&](const Words& more) {
    return shop.run_well(Words{"info", (shop / "g.csv").string()} + more).out;
  };
  CHECK_THAT(of_graph({}),
             Catch::Contains("one graph without labels, 3 nodes, 4 directed edges; 1 to 2 edges a node") &&
                 Catch::Contains("weights: no; 0 self-loops and 0 repeated edges"));
  CHECK_THAT(of_graph({"--directed"}), Catch::Contains("3 nodes, 3 directed edges"));
  shop.refuses({"info", (shop / "absent").string()}, 1, {"absent"});
  shop.refuses({"info", run, "--device", "cuda"}, 2, {"cuda", "cpu"});
}

TEST_CASE("a folder of datasets is answered with their names") {
  const GraphShop shop;
  for (const char* name : {"A", "B"}) {
    write_text(shop / "sets" / name / (std::string(name) + "_A.txt"), "1,2\n2,1\n");
    write_text(shop / "sets" / name / (std::string(name) + "_graph_indicator.txt"), "1\n1\n");
    write_text(shop / "sets" / name / (std::string(name) + "_graph_labels.txt"), "1\n");
  }
  write_text(shop / "sets/c.csv", "smiles,y\nC,1\n");
  const std::string sets = (shop / "sets").string();
  const std::string answer = "none, but datasets: A, B, c.csv; --data " + sets + "/A reads one";
  shop.refuses({"info", sets}, 1, {sets, answer});
  shop.refuses(shop.train("run", {"--data", sets}), 1, {answer});
}

TEST_CASE("info says how many self-loops and repeated edges there are, and coalesce leaves them out") {
  const GraphShop shop;
  write_text(shop / "set/S_A.txt", "1,2\n2,1\n1,2\n3,3\n4,5\n5,4\n");
  write_text(shop / "set/S_graph_indicator.txt", "1\n1\n2\n3\n3\n4\n");
  write_text(shop / "set/S_graph_labels.txt", "1\n2\n1\n2\n");
  const std::string set = (shop / "set").string();
  CHECK_THAT(shop.run_well({"info", set}).out, Catch::Contains("1 self-loops and 1 repeated edges"));
  CHECK_THAT(shop.run_well({"info", set, "--coalesce"}).out,
             Catch::Contains("4 directed edges") && Catch::Contains("0 self-loops and 0 repeated edges"));
  const Words once = {"--data", set, "--epochs", "1", "--folds", "2"};
  shop.run_well(shop.train("run", once));
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("coalesce = true"));
  shop.run_well(shop.train("listed", once + Words{"--no-coalesce"}));
  CHECK_THAT(read_text(shop / "listed" / "config.toml"), Catch::Contains("coalesce = false"));
}

TEST_CASE("info prints JSON") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const auto of = [&](const std::string& what) {
    const Words lines = lines_of(shop.run_well({"info", what, "--json"}).out);
    REQUIRE(lines.size() == 1);
    return nlohmann::json::parse(lines[0]);
  };
  const nlohmann::json data = of(shop.data().string());
  CHECK((data.at("kind") == "dataset" && data.at("items") == "graphs" && data.at("count") == 24));
  CHECK((data.at("task") == "classification" && data.at("outputs") == Words{"-1", "1"}));
  CHECK(data.at("class_counts") == std::vector<int64_t>{12, 12});
  CHECK((data.at("min_nodes") == 1 && data.at("max_nodes") == 8 && data.at("node_vocabulary")[0] == 3));
  CHECK((data.at("edges") > 0 && data.at("repeated_edges") == 0 && data.at("coordinates") == false));
  CHECK_FALSE(data.contains("split"));
  const nlohmann::json trained = of(run);
  CHECK((trained.at("kind") == "run" && trained.at("parameters") > 0));
  CHECK(trained.at("result") == nlohmann::json::parse(read_text(run + "/result.json")));
  CHECK(trained.at("schema").at("output_names") == Words{"-1", "1"});
  CHECK_THAT(trained.at("config").get<std::string>(), Catch::Contains("dim = 16"));
  write_text(shop / "g.csv", "0,5,2\n5,9,1\n9,9,1\n");
  const nlohmann::json graph = of((shop / "g.csv").string());
  CHECK((graph.at("kind") == "graph" && graph.at("nodes") == 3 && graph.at("edges") == 5));
  CHECK((graph.at("weights") == true && graph.at("self_loops") == 1 && graph.at("max_degree") == 2));
}

TEST_CASE("the graph tool's help fits a screen a subcommand") {
  const GraphShop shop;
  shop.require_help({"train", "eval", "predict", "info", "report", "encode", "sweep"},
                    {"--lr", "--encoding-columns", "--cross-validation"});
  CHECK_THAT(shop.run_well({"--version"}).out, Catch::StartsWith("geosft "));
  CHECK(shop.run_well({}).out == shop.run_well({"help"}).out);
}

}  // namespace geosft::test::test_graph_info_command
