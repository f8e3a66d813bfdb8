// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/tu_dataset.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_tu_dataset {
using test::require_equal;
using test::require_error;

namespace {

using Texts = std::map<std::string, std::string>;

// Two graphs: a path of three nodes, and one node with a loop.
const Texts small_set = {{"A", "2, 1\n1, 2\n3, 2\n2, 3\n4, 4\n"},
                         {"graph_indicator", "1\n1\n1\n2\n"},
                         {"graph_labels", "1\n-1\n"},
                         {"node_labels", "5\n0\n5\n7\n"},
                         {"edge_labels", "0\n1\n2\n3\n4\n"},
                         {"node_attributes", " 1.5, 2\n-1,3e-1\n0,0\n1,1\n"}};

void write_set(const test::TemporaryFolder& folder, Texts texts) {
  for (const auto& [what, text] : texts) test::write_text(folder / ("SMALL_" + what + ".txt"), text);
}

TuDataset read_with(const std::string& what, const std::string& text) {
  const test::TemporaryFolder folder;
  Texts texts = small_set;
  texts[what] = text;
  write_set(folder, texts);
  return read_tu_dataset(folder.path());
}

void require_broken(const std::string& what, const std::string& text, std::vector<std::string> words) {
  words.push_back("SMALL_" + what + ".txt");
  require_error([&] { read_with(what, text); }, words);
}

}  // namespace

TEST_CASE("TU dataset: graphs, labels and attributes") {
  const test::TemporaryFolder folder;
  write_set(folder, small_set);
  CHECK(is_tu_dataset(folder.path()));
  const TuDataset set = read_tu_dataset(folder.path());
  CHECK(set.name == "SMALL");
  check_batch(set.graphs);
  require_equal(set.graphs.ptr, longs({0, 3, 4}), "ptr");
  require_equal(set.graphs.graph.rowptr, longs({0, 1, 3, 4, 5}), "rowptr");
  require_equal(set.graphs.graph.col, longs({1, 0, 2, 1, 3}), "col");
  require_equal(set.edge_labels.classes.squeeze(1), longs({1, 0, 3, 2, 4}), "edge labels follow the edges");
  require_equal(set.graph_labels.classes, longs({1, 0}), "graph labels");
  CHECK(set.graph_labels.values == std::vector<int64_t>{-1, 1});
  CHECK(set.node_labels.values == std::vector<int64_t>{0, 5, 7});
  require_equal(set.node_features(),
                at::tensor({0.0F, 1.0F, 0.0F, 1.5F, 2.0F, 1.0F, 0.0F, 0.0F, -1.0F, 0.3F,
                            0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 1.0F, 1.0F,  1.0F})
                    .view({4, 5}),
                "node features");
  CHECK(set.edge_features().sizes() == at::IntArrayRef({5, 5}));
  CHECK_FALSE(set.edge_attributes.defined());
}

TEST_CASE("TU dataset: only the structure and targets of a regression") {
  const test::TemporaryFolder folder;
  write_set(folder, {{"A", "\n"}, {"graph_indicator", "1\n2\n2\n"}, {"graph_attributes", "0.5,1\n2,3\n"}});
  const TuDataset set = read_tu_dataset(folder.path());
  require_equal(set.graph_attributes, at::tensor({0.5F, 1.0F, 2.0F, 3.0F}).view({2, 2}), "targets");
  CHECK_FALSE(set.graph_labels.classes.defined());
  CHECK(set.graphs.graph.edges() == 0);
  CHECK(set.node_features().sizes() == at::IntArrayRef({3, 0}));
  CHECK(set.edge_features().sizes() == at::IntArrayRef({0, 0}));
}

TEST_CASE("TU dataset: repeated edges and self-loops stay unless they are left out") {
  const test::TemporaryFolder folder;
  write_set(folder, {{"A",
                      "\xEF\xBB\xBF"
                      "2,1\n1,1\n1,2\n2,1\n1,3\n1,2\n"},
                     {"graph_indicator", "1\n1\n1\n"},
                     {"graph_labels", "1\n"},
                     {"edge_labels", "5\n6\n7\n8\n9\n5\n"},
                     {"edge_attributes", "1,1\n2,2\n4,4\n8,8\n16,16\n32,-32\n"}});
  const TuDataset listed = read_tu_dataset(folder.path());
  CHECK(listed.graphs.graph.edges() == 6);
  require_equal(listed.edge_attributes.select(1, 0), at::tensor({2.0F, 4.0F, 16.0F, 32.0F, 1.0F, 8.0F}), "as listed");
  const TuDataset set = read_tu_dataset(folder.path(), nullptr, /*coalesce=*/true);
  require_equal(set.graphs.graph.rowptr, longs({0, 2, 3, 3}), "rowptr");
  require_equal(set.graphs.graph.col, longs({1, 2, 0}), "col");
  CHECK(set.edge_labels.values == std::vector<int64_t>{5, 6, 7, 8, 9});
  require_equal(set.edge_labels.classes.squeeze(1), longs({2, 4, 0}), "the label of the first");
  // As torch_geometric.utils.coalesce does, whose reduction is a sum.
  require_equal(set.edge_attributes, at::tensor({36.0F, -28.0F, 16.0F, 16.0F, 9.0F, 9.0F}).view({3, 2}),
                "attributes are added");
}

TEST_CASE("TU dataset: edges that are all listed once get their other direction") {
  const test::TemporaryFolder folder;
  Texts texts = {{"A", "1,2\n3,2\n2,2\n4,5\n"},
                 {"graph_indicator", "1\n1\n1\n2\n2\n"},
                 {"graph_labels", "1\n2\n"},
                 {"edge_labels", "5\n6\n7\n8\n"},
                 {"edge_attributes", "1\n2\n3\n4\n"}};
  write_set(folder, texts);
  const TuDataset set = read_tu_dataset(folder.path());
  require_equal(set.graphs.graph.rowptr, longs({0, 1, 4, 5, 6, 7}), "rowptr");
  require_equal(set.graphs.graph.col, longs({1, 1, 0, 2, 1, 4, 3}), "col");
  require_equal(set.edge_labels.classes.squeeze(1), longs({0, 2, 0, 1, 1, 3, 3}), "edge labels");
  require_equal(set.edge_attributes.squeeze(1), at::tensor({1.0F, 3.0F, 1.0F, 2.0F, 2.0F, 4.0F, 4.0F}), "attributes");
  CHECK(set.note == (folder / "SMALL_A.txt").string() +
                        ": every edge is listed in one direction; the other one is added (--directed leaves edges as "
                        "listed)");
  CHECK(packed_items(set).warnings == std::vector<std::string>{set.note});
  CHECK(read_tu_dataset(folder.path(), nullptr, /*coalesce=*/true).graphs.graph.edges() == 6);
  const TuDataset listed = read_tu_dataset(folder.path(), nullptr, /*coalesce=*/false, /*directed=*/true);
  CHECK(listed.graphs.graph.edges() == 4);
  CHECK(listed.note.empty());
  texts["A"] = "1,2\n2,1\n3,2\n4,5\n";
  write_set(folder, texts);
  const TuDataset mixed = read_tu_dataset(folder.path());
  CHECK(mixed.graphs.graph.edges() == 4);
  CHECK(mixed.note == (folder / "SMALL_A.txt").string() +
                          ": 2 of 4 edges have no reverse, and stay directed: undirected edges are listed in both "
                          "directions");
  texts["A"] = "1,2\n2,1\n3,2\n";
  texts["edge_labels"] = "5\n6\n7\n";
  texts["edge_attributes"] = "1\n2\n3\n";
  write_set(folder, texts);
  CHECK_THAT(read_tu_dataset(folder.path()).note, Catch::Contains(": 1 of 3 edges has no reverse, and stays directed"));
  CHECK(read_with("A", small_set.at("A")).note.empty());
}

TEST_CASE("TU dataset: broken files are refused by file and line") {
  require_broken("A", "2, 1\n1, 5\n", {":2", "1 to 4", "5"});
  require_broken("A", "0, 1\n", {":1", "1 to 4", "0"});
  require_broken("A", "1, x\n", {":1", "node", "x"});
  require_broken("A", "1\n", {":1", "node", "end of the line"});
  require_broken("A", "1, 2, 3\n", {":1", "two nodes", "3"});
  require_broken("A", "1, 2\n3, 4\n", {":2", "one graph", "1 and 2"});
  require_broken("graph_indicator", "1\n1\n3\n3\n", {":3", "graph 1 or the next", "graph 3"});
  require_broken("graph_indicator", "1\n2\n1\n2\n", {":3", "together", "graph 1"});
  require_broken("graph_indicator", "0\n1\n1\n1\n", {":1", "graph 1", "graph 0"});
  require_broken("graph_indicator", "", {"empty"});
  require_broken("graph_labels", "1\n", {"2 lines", "graphs", "1"});
  require_broken("graph_labels", "1\n2\n3\n", {":3", "2 graphs"});
  require_broken("graph_labels", "1\n2.5\n", {":2", "an integer", "2.5"});
  require_broken("graph_labels", "1,2\n2,1\n",
                 {"graph_labels.txt:1", "one class per graph", "packed graphs", "2 numbers"});
  require_broken("node_labels", "0\n0\n0\n", {"4 lines", "nodes", "3"});
  require_broken("edge_labels", "0\n0\n0\n0\n0\n0\n", {":6", "5 edges"});
  require_broken("node_attributes", "1,2\n1\n1,2\n1,2\n", {":2", "2 numbers", "1"});
  require_broken("node_attributes", "1,2\n1,nan\n1,2\n1,2\n", {":2", "finite", "nan"});
}

TEST_CASE("TU dataset: folders that hold no set, two sets, or no labels") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(is_tu_dataset(folder.path()));
  require_error([&] { read_tu_dataset(folder.path()); }, {"_A.txt", "none"});
  require_error([&] { read_tu_dataset(folder / "absent"); }, {"absent", "_A.txt"});
  write_set(folder, {{"A", "1,1\n"}, {"graph_indicator", "1\n"}});
  require_error([&] { read_tu_dataset(folder.path()); }, {"SMALL_graph_labels.txt", "no such file"});
  test::write_text(folder / "OTHER_A.txt", "1,1\n");
  require_error([&] { read_tu_dataset(folder.path()); }, {"one set", "SMALL_A.txt", "OTHER_A.txt"});
}

TEST_CASE("TU dataset: known labels keep their classes, and graphs need none") {
  const test::TemporaryFolder folder;
  write_set(folder, small_set);
  std::filesystem::remove(folder / "SMALL_graph_labels.txt");
  const TuLabelNumbers known = {{0, 4, 5, 7}, {0, 1, 2, 3, 4, 9}};
  const TuDataset set = read_tu_dataset(folder.path(), &known);
  require_equal(set.node_labels.classes.squeeze(1), longs({2, 0, 2, 3}), "node labels");
  require_equal(set.edge_labels.classes.squeeze(1), longs({1, 0, 3, 2, 4}), "edge labels");
  CHECK(set.node_labels.values == known.nodes);
  CHECK_FALSE(set.graph_labels.classes.defined());
  const TuLabelNumbers fewer = {{0, 5}, known.edges}, none;
  require_error([&] { read_tu_dataset(folder.path(), &fewer); }, {"SMALL_node_labels.txt:4", "2 labels", "7"});
  require_error([&] { read_tu_dataset(folder.path(), &none); }, {"SMALL_edge_labels.txt", "no labels of edges"});
  std::filesystem::remove(folder / "SMALL_edge_labels.txt");
  std::filesystem::remove(folder / "SMALL_node_labels.txt");
  CHECK_FALSE(read_tu_dataset(folder.path(), &none).node_labels.classes.defined());
}

TEST_CASE("TU dataset: known classes of graphs are those of the trained model") {
  const test::TemporaryFolder folder;
  write_set(folder, small_set);
  TuLabelNumbers known = {{0, 5, 7}, {0, 1, 2, 3, 4}, /*labelled=*/true, {-1, 0, 1}};
  const TuDataset set = read_tu_dataset(folder.path(), &known);
  require_equal(set.graph_labels.classes, longs({2, 0}), "classes");
  CHECK(set.graph_labels.values == std::vector<int64_t>{-1, 0, 1});
  known.graphs = {0, 1};
  require_error([&] { read_tu_dataset(folder.path(), &known); }, {"SMALL_graph_labels.txt:2", "2 labels", "-1"});
  known.graphs = {};
  require_equal(read_tu_dataset(folder.path(), &known).graph_labels.classes, longs({1, 0}), "those of the file");
}

TEST_CASE("TU dataset: the forms of MUTAG and of ENZYMES") {
  // Rings of six carbons; every second one has a nitrogen outside, by an edge of another kind.
  Texts mutag;
  int64_t nodes = 0, edges = 0;
  for (int graph = 1; graph <= 8; ++graph) {
    const bool with_nitrogen = graph % 2 == 0;
    const auto edge = [&](int64_t a, int64_t b, const char* kind) {
      for (const auto& [from, to] : {std::pair(b, a), std::pair(a, b)}) {
        mutag["A"] += std::to_string(nodes + from) + ", " + std::to_string(nodes + to) + "\n";
        mutag["edge_labels"] += std::string(kind) + "\n";
        ++edges;
      }
    };
    for (int64_t i = 1; i <= 6; ++i) edge(i, i % 6 + 1, "0");
    if (with_nitrogen) edge(6, 7, "1");
    for (int i = 0; i < (with_nitrogen ? 7 : 6); ++i) {
      mutag["graph_indicator"] += std::to_string(graph) + "\n";
      mutag["node_labels"] += i < 6 ? "0\n" : "1\n";
    }
    mutag["graph_labels"] += with_nitrogen ? "1\n" : "-1\n";
    nodes += with_nitrogen ? 7 : 6;
  }
  const test::TemporaryFolder folder;
  for (const auto& [what, text] : mutag) test::write_text(folder / ("MUTAG/MUTAG_" + what + ".txt"), text);
  test::write_text(folder / "MUTAG/README.txt", "README for dataset MUTAG\n");
  const TuDataset rings = read_tu_dataset(folder / "MUTAG");
  CHECK(rings.name == "MUTAG");
  CHECK((rings.graphs.items() == 8 && rings.graphs.graph.nodes() == nodes && rings.graphs.graph.edges() == edges));
  CHECK((rings.node_labels.count() == 2 && rings.edge_labels.count() == 2));
  require_equal(rings.graph_labels.classes, at::arange(8) % 2, "classes");
  require_equal(edge_sources(symmetrized(rings.graphs.graph)), edge_sources(rings.graphs.graph), "undirected");
  CHECK(rings.edge_labels.classes.sum().item<int64_t>() == 4 * 2);
  // The nitrogen of the second ring: the last of its nodes, with one edge, to the sixth carbon.
  CHECK(rings.node_labels.classes[12].item<int64_t>() == 1);
  const int64_t first = rings.graphs.graph.rowptr[12].item<int64_t>();
  CHECK(rings.graphs.graph.rowptr[13].item<int64_t>() == first + 1);
  CHECK(rings.graphs.graph.col[first].item<int64_t>() == 11);

  // Columns of a fixed width: a blank before a short number, none before a long one.
  for (const auto& [what, text] :
       Texts{{"A", "2, 1\n1, 2\n"},
             {"graph_indicator", "1\n1\n2\n"},
             {"graph_labels", "6\n3\n"},
             {"node_labels", "1\n1\n2\n"},
             {"node_attributes",
              " 11.000000, 15.887014, -0.510000, 93.900000\n 11.000000, 16.362935, -2.030000,102.600000\n"
              " 16.000000, 21.395072,  2.040000,136.000000\n"}}) {
    test::write_text(folder / ("ENZYMES/ENZYMES_" + what + ".txt"), text);
  }
  const TuDataset enzymes = read_tu_dataset(folder / "ENZYMES");
  CHECK(enzymes.graph_labels.values == std::vector<int64_t>{3, 6});
  test::require_close(enzymes.node_features().slice(1, 2),
                      at::tensor({11.0F, 15.887014F, -0.51F, 93.9F, 11.0F, 16.362935F, -2.03F, 102.6F, 16.0F,
                                  21.395072F, 2.04F, 136.0F})
                          .view({3, 4}),
                      1e-7, "attributes");
}

TEST_CASE("TU dataset: the real sets") {
  const auto folder = test::real_data("tu");
  if (folder.empty()) return;
  const TuDataset mutag = read_tu_dataset(folder / "MUTAG");
  CHECK(mutag.graphs.items() == 188);
  CHECK(mutag.graphs.graph.nodes() == 3371);
  CHECK(mutag.graphs.graph.edges() == 7442);
  CHECK(mutag.node_labels.count() == 7);
  CHECK(mutag.edge_labels.count() == 4);
  CHECK(mutag.graph_labels.classes.sum().item<int64_t>() == 125);
  require_equal(edge_sources(symmetrized(mutag.graphs.graph)), edge_sources(mutag.graphs.graph), "undirected");
  const TuDataset enzymes = read_tu_dataset(folder / "ENZYMES");
  CHECK(enzymes.graphs.items() == 600);
  CHECK(enzymes.graph_labels.count() == 6);
  CHECK(enzymes.node_features().sizes() == at::IntArrayRef({enzymes.graphs.graph.nodes(), 3 + 18}));
  CHECK(read_tu_dataset(folder / "NCI1").graphs.items() == 4110);
  CHECK(read_tu_dataset(folder / "PROTEINS_full").graphs.items() == 1113);
}

TEST_CASE("TU dataset: a line without numbers is refused") {
  const test::TemporaryFolder folder;
  write_set(folder,
            {{"A", "1,2\n"}, {"graph_indicator", "1\n1\n"}, {"graph_labels", "1\n"}, {"node_labels", ",\n1,2\n"}});
  require_error([&] { read_tu_dataset(folder.path()); }, {"node_labels.txt:1", "numbers", "none"});
}

}  // namespace geosft::test::test_tu_dataset
