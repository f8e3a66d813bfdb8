// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/packed_graphs_file.h"

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "data/formats/hdf5_file.h"
#include "tests/data/files.h"
#include "tests/data/graphs/graphs.h"
#include "tests/data/graphs/small_graphs.h"

namespace geosft::test::test_packed_graphs_file {
namespace {

// The datasets of a small file, as another program would write them.
std::map<std::string, at::Tensor> small_datasets() {
  const auto bytes = [](const std::string& text) {
    return at::tensor(std::vector<uint8_t>(text.begin(), text.end()), at::kByte);
  };
  return {{"geosft_packed_graphs", at::tensor({1}, at::kInt)},
          {"task", bytes("classification")},
          {"output_names", bytes("ring\nchain")},
          {"ptr", at::tensor({0, 2, 3}, at::kInt)},
          {"rowptr", at::tensor({0, 1, 2, 3}, at::kInt)},
          {"col", at::tensor({1, 0, 2}, at::kInt)},
          {"node_categories", at::tensor({0, 1, 1}, at::kByte).view({3, 1})},
          {"node_vocabulary", at::tensor({2}, at::kInt)},
          {"target", at::tensor({1, 0}, at::kByte)}};
}

// Changes or removes (undefined) one dataset; `words` must be in the error.
void require_broken(const std::string& name, const at::Tensor& tensor, std::vector<std::string> words) {
  const TemporaryFolder folder;
  auto sets = small_datasets();
  sets[name] = tensor;
  std::erase_if(sets, [](const auto& set) { return !set.second.defined(); });
  geosft::write_hdf5(folder / "set.h5", sets);
  words.push_back("set.h5");
  require_error([&] { read_packed_graphs(folder / "set.h5"); }, words);
}

}  // namespace

TEST_CASE("packed graphs of every task come back from their file") {
  const TemporaryFolder folder;
  for (const GraphTask task : graph_tasks) {
    PackedItems packed = small_graphs(task);
    packed.warnings = {"a sentence", "another: \"ü\""};
    if (has_labels(task)) packed.target[0][1] = std::numeric_limits<float>::quiet_NaN();
    write_packed_graphs(folder / "set.h5", packed);
    require_same(read_packed_graphs(folder / "set.h5"), packed);
    packed.split = DatasetSplit{{0, 6, 2}, {}, {1}};
    if (is_of_nodes(task)) packed.node_split = at::arange(packed.graphs.graph.nodes()) % 4 - 1;
    packed.graphs.graph.weight = at::rand({packed.graphs.graph.edges()});
    packed.node_values = packed.edge_values = packed.coordinates = at::Tensor();
    packed.schema.node_values = packed.schema.edge_values = 0;
    packed.schema.coordinates = false;
    packed.warnings.clear();
    packed.smiles.assign(static_cast<size_t>(packed.size()), "CO");
    packed.names.assign(packed.smiles.size(), "a b.xyz:1");
    packed.lines.resize(packed.smiles.size());
    std::iota(packed.lines.begin(), packed.lines.end(), 254);  // of more than a byte, too
    write_packed_graphs(folder / "set.h5", packed, "made from this");
    require_same(read_packed_graphs(folder / "set.h5"), packed);
    CHECK(read_packed_graphs(folder / "set.h5").smiles == packed.smiles);
    CHECK(read_packed_graphs(folder / "set.h5").lines == packed.lines);
    CHECK(packed_graphs_key(folder / "set.h5") == "made from this");
  }
}

TEST_CASE("packed graphs: a file that another program has written") {
  const TemporaryFolder folder;
  geosft::write_hdf5(folder / "set.h5", small_datasets());
  CHECK(packed_graphs_key(folder / "set.h5").empty());
  const PackedItems packed = read_packed_graphs(folder / "set.h5");
  CHECK(packed.schema == ItemSchema{GraphTask::classification, {2}, 0, {}, 0, false, {"ring", "chain"}});
  require_equal(packed.target, at::tensor({1, 0}, at::kLong), "target");
  require_equal(packed.graphs.graph.col, at::tensor({1, 0, 2}, at::kLong), "col");
}

TEST_CASE("packed graphs: the numbers that stand for labels are kept") {
  const TemporaryFolder folder;
  PackedItems packed = small_graphs(GraphTask::multi_label);
  packed.schema.label_values = {-1, 1, 0, 1, 0.5f, 2.25f};
  write_packed_graphs(folder / "set.h5", packed);
  CHECK(read_packed_graphs(folder / "set.h5").schema == packed.schema);
}

TEST_CASE("packed graphs: broken files are refused by file and dataset") {
  const auto ints = [](std::vector<int64_t> values) { return at::tensor(values, at::kLong); };
  require_broken("geosft_packed_graphs", {}, {"geosft_packed_graphs", "none"});
  require_broken("geosft_packed_graphs", ints({2}), {"geosft_packed_graphs", "version 1", "2"});
  require_broken("task", {}, {"task", "name of a task"});
  require_broken("task", ints({65, 300}), {"task", "bytes", "300"});
  require_broken("output_names", {}, {"output_names"});
  for (const char* name : {"ptr", "rowptr", "col", "target", "node_vocabulary"})
    require_broken(name, {}, {name, "none"});
  require_broken("ptr", ints({0, 2, 4}), {"ptr"});
  require_broken("ptr", ints({0, 1, 3}), {"item"});
  require_broken("rowptr", ints({0, 2, 1, 3}), {"rowptr"});
  require_broken("rowptr", ints({0, 1, 2, 4}), {"rowptr"});
  require_broken("col", ints({1, 0, 3}), {"col"});
  require_broken("col", at::ones({3}), {"col", "integers"});
  require_broken("node_categories", ints({0, 1}).view({2, 1}), {"node_categories", "[3, 1]"});
  require_broken("node_categories", ints({0, 1, 2}).view({3, 1}), {"node_categories", "found 2"});
  require_broken("node_vocabulary", ints({2}).view({1, 1}), {"node_vocabulary", "a list"});
  require_broken("edge_values", at::ones({3}), {"edge_values", "a table"});
  require_broken("edge_values", at::ones({2, 1}), {"edge_values", "[3, 1]"});
  require_broken("coordinates", at::ones({3, 2}), {"coordinates", "[3, 3]"});
  require_broken("label_values", at::ones({2, 2}), {"label_values", "a list"});
  require_broken("label_values", at::ones({3}), {"label_values", "two per output", "3"});
  require_broken("target", ints({1}), {"target", "[2]"});
  require_broken("target", ints({1, 2}), {"target", "found 2"});
  require_broken("node_split", ints({0, 1, 5}), {"node_split", "found 5"});
  require_broken("node_split", ints({0, 1, 2}), {"node_split", "belong to graphs"});
  require_broken("split_train", ints({0}), {"split_train, split_validation and split_test", "not all"});
}

TEST_CASE("packed graphs: what is no such file") {
  const TemporaryFolder folder;
  write_text(folder / "text.h5", "text");
  require_error([&] { read_packed_graphs(folder / "absent.h5"); }, {"absent.h5"});
  geosft::write_hdf5(folder / "other.h5", {{"data", at::ones({2})}});
  require_error([&] { packed_graphs_key(folder / "other.h5"); }, {"other.h5", "geosft_packed_graphs"});
  require_error([&] { write_packed_graphs(folder / "no/folder.h5", small_graphs()); }, {"folder.h5", "written"});
}

}  // namespace geosft::test::test_packed_graphs_file
