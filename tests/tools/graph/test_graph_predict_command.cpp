// SPDX-License-Identifier: Apache-2.0
// geosft-graph predict, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_predict_command {

TEST_CASE("predict ranks the classes of every graph") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const Words all = lines_of(shop.run_well({"predict", run, "--json"}).out);
  REQUIRE(all.size() == 24);
  for (size_t i = 0; i < all.size(); ++i) {
    const nlohmann::json line = nlohmann::json::parse(all[i]);
    CHECK(line.at("graph") == i);
    CHECK(line.at("file") == shop.data().string());
    REQUIRE(line.at("top").size() == 2);
    CHECK(line.at("top")[0][0] == line.at("class"));
    CHECK(line.at("top")[0][1] == line.at("probability"));
    CHECK(line.at("probability") >= 0.5);
  }
  const Words some = lines_of(shop.run_well({"predict", run, "--graphs", "11,3", "--json"}).out);
  REQUIRE(some.size() == 2);
  CHECK(nlohmann::json::parse(some[0]).at("graph") == 11);
  CHECK(nlohmann::json::parse(some[1]).at("class") == nlohmann::json::parse(all[3]).at("class"));
  CHECK(lines_of(shop.run_well({"predict", run, "--split", "test"}).out).size() == 6);
  CHECK(lines_of(shop.run_well({"predict", run, "--json", "--seed", "12"}).out) == all);
  CHECK_THAT(shop.run_well({"predict", "--help"}).out, !Catch::Contains("renumbering"));
  CHECK_THAT(shop.run_well({"predict", run, "--graphs", "5"}).out, Catch::StartsWith("5:  ") && Catch::Contains(" %"));
}

TEST_CASE("a file in the place of a graph run, and data that moved, are named as such") {
  const GraphShop shop;
  const std::string run = shop.trained();
  shop.refuses({"predict", "molecules.smi"}, 2, {"'molecules.smi' is no RUN", "geosft-graph predict RUN"});
  std::filesystem::rename(shop.data(), shop / "moved");
  for (const char* command : {"eval", "predict"}) {
    shop.refuses({command, run}, 1, {shop.data().string(), run + " was trained on", "--data DIR"});
  }
  shop.run_well({"predict", run, "--data", (shop / "moved").string(), "--graphs", "0"});
  shop.run_well({"predict", run, (shop / "moved").string()});
}

TEST_CASE("predict refuses graphs that are not there") {
  const GraphShop shop;
  const std::string run = shop.trained();
  shop.refuses({"predict", run, "--graphs", "24"}, 2, {"--graphs", "0 … 23", "24"});
  shop.refuses({"predict", run, "--graphs=-1"}, 2, {"--graphs"});
  for (const char* name : {"validation", "val"}) shop.refuses({"predict", run, "--split", name}, 2, {"validation"});
  shop.refuses({"predict", run, "--data", (shop / "absent").string()}, 1, {"absent"});
}

TEST_CASE("predict takes graphs that are in no dataset") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const Words known = lines_of(shop.run_well({"predict", run, "--json"}).out);
  // The same graphs without labels: the predictions are those for the dataset.
  std::filesystem::create_directories(shop / "new");
  for (const char* part : {"A", "graph_indicator", "node_labels"}) {
    const std::string name = "TINY_" + std::string(part) + ".txt";
    std::filesystem::copy_file(shop.data() / name, shop / "new" / name);
  }
  const std::string folder = (shop / "new").string();
  const Words given = lines_of(shop.run_well({"predict", run, folder, "--json"}).out);
  REQUIRE(given.size() == known.size());
  for (size_t i = 0; i < given.size(); ++i) {
    nlohmann::json line = nlohmann::json::parse(given[i]);
    CHECK(line.at("file") == folder);
    line["file"] = shop.data().string();
    CHECK(line == nlohmann::json::parse(known[i]));
  }
  CHECK_THAT(shop.run_well({"predict", run, folder}).out, Catch::StartsWith(folder + " 0:  "));
  // A triangle of label 2 alone keeps the class that the label had.
  write_text(shop / "one/T_A.txt", "1 2\n2 1\n2 3\n3 2\n3 1\n1 3\n");
  write_text(shop / "one/T_graph_indicator.txt", "1\n1\n1\n");
  write_text(shop / "one/T_node_labels.txt", "2\n2\n2\n");
  CHECK(lines_of(shop.run_well({"predict", run, (shop / "one").string(), folder, "--json"}).out).size() == 25);
  write_text(shop / "one/T_node_labels.txt", "2\n3\n2\n");
  shop.refuses({"predict", run, (shop / "one").string()}, 1, {"T_node_labels.txt:2", "3"});
  write_text(shop / "edges.txt", "0 1\n");
  shop.refuses({"predict", run, (shop / "edges.txt").string()}, 1, {"edges.txt", "categories of nodes (3)"});
  shop.refuses({"predict", run, (shop / "absent").string()}, 1, {"absent"});
  write_text(shop / "m.smi", "CCO\n");
  for (const Words& molecules : {Words{"--smiles", "CCO"}, Words{(shop / "m.smi").string()}}) {
    shop.refuses(Words{"predict", run} + molecules, 1, {"TU's form", "not those of SMILES", "found SMILES"});
  }
  const Words several = {"predict", run, (shop / "absent").string(), folder, "--json"};
  const ProcessResult after = shop.run(several), first = shop.run(several + Words{"--fail-fast"});
  const Words said = lines_of(after.out);
  REQUIRE((after.exit == 1 && said.size() == known.size() + 1));
  const nlohmann::json error = nlohmann::json::parse(said[0]);
  CHECK((error.size() == 2 && error.at("file") == several[2]));
  CHECK_THAT(error.at("error").get<std::string>(), Catch::Contains("absent"));
  CHECK_THAT(after.err, Catch::StartsWith("geosft-graph: error: ") && Catch::Contains("absent"));
  CHECK((first.exit == 1 && first.out.empty()));
  const std::string table = (shop / "first.csv").string();
  CHECK(shop.run({"predict", run, folder, several[2], "--fail-fast", "--csv", table}).exit == 1);
  CHECK(lines_of(read_text(table)).size() == known.size() + 1);
  shop.refuses({"predict", run, "--fail-fast"}, 2, {"--fail-fast", "FILE"});
  shop.refuses({"predict", run, folder, "--graphs", "1"}, 2, {"--graphs"});
  shop.refuses({"predict", run, folder, "--data", folder}, 2, {"--data"});
}

TEST_CASE("predict takes a list of edges where a model looks at nothing else") {
  const GraphShop shop;
  std::filesystem::remove(shop.data() / "TINY_node_labels.txt");
  const std::string run = shop.trained();
  write_text(shop / "edges.txt", "10 11\n11 12\n12 10\n");
  const std::string file = (shop / "edges.txt").string();
  const nlohmann::json line = nlohmann::json::parse(shop.run_well({"predict", run, file, "--json"}).out);
  CHECK(line.at("file") == file);
  CHECK(line.at("graph") == 0);
  CHECK_FALSE(line.contains("nodes"));
  // The first graph of the set is a triangle, too.
  const Words known = lines_of(shop.run_well({"predict", run, "--graphs", "0", "--json"}).out);
  CHECK(line.at("top") == nlohmann::json::parse(known.at(0)).at("top"));
  CHECK_THAT(shop.run_well({"predict", run, file}).out, Catch::StartsWith(file + ":  "));
}

TEST_CASE("predict takes folders and patterns of graphs, and writes a table") {
  const GraphShop shop;
  std::filesystem::remove(shop.data() / "TINY_node_labels.txt");
  const std::string run = shop.trained(), table = (shop / "table.csv").string();
  write_text(shop / "new/b.EDGES", "10 11\n11 12\n12 10\n");
  write_text(shop / "new/a.txt", "0 zero\n");
  write_text(shop / "new/picture.png", "");
  std::filesystem::create_directories(shop / "new/set");
  for (const char* part : {"A", "graph_indicator"}) {
    const std::string name = "TINY_" + std::string(part) + ".txt";
    std::filesystem::copy_file(shop.data() / name, shop / "new/set" / name);
  }
  const ProcessResult all = shop.run({"predict", run, (shop / "new").string(), "--json", "--csv", table, "--top", "1"});
  CHECK(all.exit == 1);
  CHECK_THAT(all.err, Catch::Contains("a.txt:1") && !Catch::Contains("png"));
  const Words lines = lines_of(all.out), rows = lines_of(read_text(table));
  REQUIRE((lines.size() == 26 && rows.size() == 27));
  CHECK(rows[0] == "file,graph,name,class,probability,error");
  CHECK_THAT(rows[1], Catch::StartsWith((shop / "new/a.txt").string() + ",,,,,"));
  CHECK(nlohmann::json::parse(lines[0]).contains("error"));
  const nlohmann::json first = nlohmann::json::parse(lines[1]);
  const std::string probability = first.at("probability").dump(), name = first.at("class");
  CHECK(rows[2] == (shop / "new/b.EDGES").string() + ",0,," + name + "," + probability + ",");
  CHECK_THAT(rows[26], Catch::StartsWith((shop / "new/set").string() + ",23,,"));
  CHECK(lines_of(shop.run_well({"predict", run, (shop / "new/*.EDG*").string()}).out).size() == 1);
  shop.refuses({"predict", run, (shop / "new/*.png").string()}, 1, {"*.png", ".edges", "no such file"});
  shop.run_well({"predict", run, "--graphs", "3", "--csv", table, "--votes", "3"});
  const Words known = lines_of(read_text(table));
  CHECK(known.at(0) == "file,graph,name,class,probability,class_2,probability_2,deviation,deviation_2,target,error");
  CHECK_THAT(known.at(1),
             Catch::StartsWith(shop.data().string() + ",3,,") && (Catch::EndsWith(",1,") || Catch::EndsWith(",-1,")));
  // Votes that sample the same tokens do not deviate.
  shop.run_well({"predict", run, "--graphs", "3", "--csv", table, "--votes", "3", "--evaluation", "greedy"});
  CHECK(lines_of(read_text(table)).at(0) == "file,graph,name,class,probability,class_2,probability_2,target,error");
}

}  // namespace geosft::test::test_graph_predict_command
