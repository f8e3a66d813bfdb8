// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "data/graphs/molecule_features.h"
#include "tests/data/cached.h"
#include "tests/data/files.h"
#include "tests/data/graphs/graphs.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_ogb_dataset {
using test::require_equal;
using test::require_error;
using Texts = std::map<std::string, std::string>;

namespace {

// Two molecules: a chain of three atoms and a pair; each bond listed once.
const Texts molecules = {{"raw/num-node-list", "3\n2\n"},
                         {"raw/num-edge-list", "2\n1\n"},
                         {"raw/edge", "0,1\n1,2\n0,1\n"},
                         {"raw/node-feat",
                          "5,0,4,5,3,0,2,0,0\n5,0,4,5,2,0,2,0,0\n7,0,2,5,1,0,2,0,0\n"
                          "5,0,3,5,2,0,1,0,0\n7,0,1,5,0,0,1,0,0\n"},
                         {"raw/edge-feat", "0,0,0\n0,0,1\n1,0,0\n"},
                         {"raw/graph-label", "1,\n0,1\n"},
                         {"split/scaffold/train", "1\n"},
                         {"split/scaffold/valid", ""},
                         {"split/scaffold/test", "0\n"}};

// One graph of four nodes whose labels are of nodes.
const Texts citations = {{"raw/num-node-list", "4\n"},         {"raw/num-edge-list", "3\n"},
                         {"raw/edge", "0,1\n2,1\n3,0\n"},      {"raw/node-feat", "0.5,1\n-1,2\n0,0\n1,1\n"},
                         {"raw/node-label", "2\n0\nnan\n1\n"}, {"split/time/train", "0\n"},
                         {"split/time/valid", "1\n"},          {"split/time/test", "3\n"}};

// One graph whose nodes have labels and a species, but no features; those of its edges are numbers.
const Texts proteins = {{"raw/num-node-list", "4\n"},
                        {"raw/num-edge-list", "3\n"},
                        {"raw/edge", "0,1\n2,1\n3,0\n"},
                        {"raw/edge-feat", "0.001,0.5\n0.2,0.3\n0.9,0\n"},
                        {"raw/node_species", "9606\n9606\n4932\n511145\n"},
                        {"raw/node-label", "1,0,0\n0,,1\nnan,nan,nan\n0,1,1\n"},
                        {"split/species/train", "0\n1\n"},
                        {"split/species/valid", "2\n"},
                        {"split/species/test", "3\n"}};

PackedItems read_with(Texts texts, const Texts& changes = {}, GraphReadOptions options = {}) {
  const test::TemporaryFolder folder;
  for (const auto& [name, text] : changes) texts[name] = text;
  for (const auto& [name, text] : texts) {
    if (text != "absent") test::write_gz(folder / (name + ".csv.gz"), text);
  }
  options.cache = folder / "cache";
  return read_ogb_dataset(folder.path(), options);
}

void require_broken(const Texts& texts, const std::string& name, const std::string& text,
                    std::vector<std::string> words) {
  require_error([&] { read_with(texts, {{name, text}}); }, words);
}

}  // namespace

TEST_CASE("OGB: molecules with missing labels") {
  const PackedItems packed = read_with(molecules);
  CHECK(packed.schema.task == GraphTask::multi_label);
  CHECK(packed.schema.node_vocabulary == atom_vocabulary);
  CHECK(packed.schema.edge_vocabulary == bond_vocabulary);
  require_equal(packed.graphs.ptr, at::tensor({0, 3, 5}, at::kLong), "ptr");
  require_equal(packed.graphs.graph.rowptr, at::tensor({0, 1, 3, 4, 5, 6}, at::kLong), "rowptr");
  require_equal(packed.graphs.graph.col, at::tensor({1, 2, 0, 1, 4, 3}, at::kLong), "col");
  require_equal(packed.edge_categories.select(1, 2), at::tensor({0, 1, 0, 1, 0, 0}, at::kLong), "conjugated");
  require_equal(packed.node_categories.select(1, 0), at::tensor({5, 5, 7, 5, 7}, at::kLong), "elements");
  CHECK(std::isnan(packed.target[0][1].item<float>()));
  CHECK(packed.target[1][1].item<float>() == 1);
  CHECK(packed.split->train == std::vector<int64_t>{1});
  CHECK(packed.split->validation.empty());
  CHECK(read_with(molecules, {}, {"", {}, "", true}).graphs.graph.edges() == 3);
}

TEST_CASE("OGB: the task follows from the labels") {
  const PackedItems classes = read_with(molecules, {{"raw/graph-label", "2\n0\n"}});
  CHECK(classes.schema.task == GraphTask::classification);
  CHECK(classes.schema.outputs() == 3);
  require_equal(classes.target, at::tensor({2, 0}, at::kLong), "classes");
  CHECK(read_with(molecules, {{"raw/graph-label", "-0.5\n1\n"}}).schema.task == GraphTask::regression);
}

TEST_CASE("OGB: features of other kinds, or none") {
  const PackedItems plain = read_with(molecules, {{"raw/node-feat", "absent"}, {"raw/edge-feat", "absent"}});
  CHECK_FALSE(plain.node_categories.defined());
  CHECK_FALSE(plain.node_values.defined());
  const PackedItems other =
      read_with(molecules, {{"raw/node-feat", "0\n1\n2\n3\n4\n"}, {"raw/edge-feat", "0.5\n1\n2\n"}});
  CHECK(other.schema.node_vocabulary == std::vector<int64_t>{5});
  CHECK(other.schema.edge_values == 1);
  require_equal(other.edge_values.squeeze(1), at::tensor({0.5F, 1.0F, 0.5F, 1.0F, 2.0F, 2.0F}), "edge values");
  const PackedItems single =
      read_with(molecules, {{"raw/num-edge-list", "0\n0\n"}, {"raw/edge", ""}, {"raw/edge-feat", ""}});
  CHECK(single.graphs.graph.edges() == 0);
}

TEST_CASE("OGB: labels of nodes") {
  const PackedItems packed = read_with(citations);
  CHECK(packed.schema.task == GraphTask::node_classification);
  CHECK(packed.schema.outputs() == 3);
  CHECK(packed.graphs.graph.edges() == 6);
  CHECK(packed.node_values.sizes() == at::IntArrayRef({4, 2}));
  require_equal(packed.target, at::tensor({2, 0, -1, 1}, at::kLong), "classes");
  require_equal(packed.node_split, at::tensor({0, 1, -1, 2}, at::kLong), "split");
  CHECK_FALSE(packed.split);
}

TEST_CASE("OGB: several labels a node, features of edges alone, and a table that is left out") {
  const PackedItems packed = read_with(proteins);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(packed.schema ==
        ItemSchema{GraphTask::node_multi_label, {}, 0, {}, 2, false, {"label 0", "label 1", "label 2"}});
  CHECK(at::allclose(packed.target,
                     at::tensor({1.0F, 0.0F, 0.0F, 0.0F, nan, 1.0F, nan, nan, nan, 0.0F, 1.0F, 1.0F}).view({4, 3}), 0,
                     0, /*equal_nan=*/true));
  require_equal(packed.node_split, at::tensor({0, 0, 1, 2}, at::kLong), "split");
  require_equal(packed.edge_values.select(1, 1), at::tensor({0.5F, 0.0F, 0.5F, 0.3F, 0.3F, 0.0F}), "edge values");
  CHECK(packed.warnings ==
        std::vector<std::string>{"raw/node_species.csv.gz is left out: node-feat and edge-feat alone are features"});
  CHECK(read_with(proteins, {{"raw/node_species", "absent"}}).warnings.empty());
}

TEST_CASE("OGB: the cache gives the same, tells splits and directions apart, and goes stale with its files") {
  const test::TemporaryFolder folder;
  Texts texts = molecules;
  texts.insert({{"split/random/train", "0\n"}, {"split/random/valid", ""}, {"split/random/test", "1\n"}});
  for (const auto& [name, text] : texts) test::write_gz(folder / (name + ".csv.gz"), text);
  const auto read = [&](const char* split, bool directed = false) {
    return read_ogb_dataset(folder.path(), {folder / "cache", {}, split, directed});
  };
  const PackedItems made = read("scaffold");
  test::require_same(read("scaffold"), made);
  CHECK(test::mark_cached(folder / "cache", "from the cache") == 1);
  CHECK(read("scaffold").warnings == std::vector<std::string>{"from the cache"});
  CHECK(read("random").split->train == std::vector<int64_t>{0});
  CHECK(read("scaffold", true).graphs.graph.edges() == 3);
  CHECK(read("scaffold").warnings.size() == 1);
  test::write_gz(folder / "raw/graph-label.csv.gz", "0,\n0,1\n");
  CHECK(read("scaffold").target[0][0].item<float>() == 0);
  CHECK(read("scaffold").warnings.empty());
}

TEST_CASE("OGB: broken files are refused by file and line") {
  require_broken(molecules, "raw/num-node-list", "3\nx\n", {"num-node-list.csv.gz:2", "number of nodes", "x"});
  require_broken(molecules, "raw/num-node-list", "3\n0\n", {"num-node-list.csv.gz:2", "at least 1", "0"});
  require_broken(molecules, "raw/num-node-list", "3\n9000000000000000000\n", {"num-node-list.csv.gz:2"});
  require_broken(molecules, "raw/num-node-list", "3\n", {"num-edge-list.csv.gz", "1 rows", "2"});
  require_broken(molecules, "raw/num-node-list", "3\n3\n", {"node-feat.csv.gz", "6 rows", "nodes", "5"});
  require_broken(molecules, "raw/num-node-list", "", {"num-node-list.csv.gz", "every graph"});
  require_broken(molecules, "raw/num-edge-list", "2\n-1\n", {"num-edge-list.csv.gz:2", "at least 0", "-1"});
  require_broken(molecules, "raw/num-edge-list", "2\n2\n", {"edge.csv.gz", "4 rows", "3"});
  require_broken(molecules, "raw/edge", "0,1\n1,3\n0,1\n", {"edge.csv.gz:2", "0 to 2 of graph 0", "3"});
  require_broken(molecules, "raw/edge", "0,1\n1,2\n0,-1\n", {"edge.csv.gz:3", "0 to 1 of graph 1", "-1"});
  require_broken(molecules, "raw/edge", "0,1\n1\n0,1\n", {"edge.csv.gz:2", "2 columns", "1"});
  require_broken(molecules, "raw/edge", "absent", {"edge.csv"});
  require_broken(molecules, "raw/edge-feat", "0,0,0\n", {"edge-feat.csv.gz", "3 rows", "1"});
  require_broken(molecules, "raw/node-feat", "1\n2\n3,4\n", {"node-feat.csv.gz:3", "1 columns", "2"});
  require_broken(molecules, "raw/graph-label", "1\n", {"graph-label.csv.gz", "2 rows", "1"});
  require_broken(molecules, "raw/graph-label", "absent", {"graph-label.csv or node-label.csv", "neither"});
  require_broken(molecules, "split/scaffold/test", "absent", {"test.csv", "no such file"});
  require_broken(molecules, "split/scaffold/test", "2\n", {"test.csv.gz:1", "0 to 1", "2"});
  require_broken(molecules, "split/random/test", "0\n", {"split", "one folder", "split_name", "random, scaffold"});
  require_error([] { read_with(molecules, {}, {"", {}, "time", false}); }, {"split/time", "a split", "scaffold"});
  require_broken(citations, "raw/num-node-list", "3\n", {"node-feat.csv.gz", "3 rows", "4"});
  require_broken(citations, "raw/node-label", "0,1\n0,1\n", {"node-label.csv.gz", "4 rows", "2"});
  require_broken(citations, "raw/node-label", "0\n0.5\n1\n1\n", {"node-label.csv.gz:2", "a class", "0.5"});
  require_broken(citations, "raw/node-label", "nan\nnan\nnan\nnan\n", {"node-label.csv.gz", "a node with a class"});
  require_broken(proteins, "raw/node-label", "0,1\n0,1\n0,2\n0,1\n", {"node-label.csv.gz:3", "labels 0, 1", "found 2"});
  require_broken(proteins, "raw/node-label", "0,1\n0,0.5\n0,0\n0,1\n", {"node-label.csv.gz:2", "labels 0, 1", "0.5"});
  require_broken(proteins, "raw/node-label", "0,1\n0\n0,0\n0,1\n", {"node-label.csv.gz:2", "2 columns", "1"});
  require_broken(proteins, "raw/node-label", "nan,\nnan,\nnan,\nnan,\n", {"node-label.csv.gz", "a node with a label"});
  require_broken(proteins, "raw/edge-feat", "0.1\n0.2\n", {"edge-feat.csv.gz", "3 rows", "2"});
  require_broken(proteins, "split/species/test", "4\n", {"test.csv.gz:1", "0 to 3", "4"});
}

TEST_CASE("OGB: a number of nodes without anything to show for it") {
  require_error(
      [] {
        read_with(citations, {{"raw/node-feat", "absent"}, {"raw/num-node-list", "99000000000\n"}});
      },
      {"num-node-list.csv.gz", "nodes without features", "99000000000"});
}

}  // namespace geosft::test::test_ogb_dataset
