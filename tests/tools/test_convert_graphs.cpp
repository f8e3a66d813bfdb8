// SPDX-License-Identifier: Apache-2.0
// tools/convert_graphs.py.
#include <catch2/catch.hpp>

#include "data/packed_graphs_file.h"
#include "data/split_files.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/common/python.h"

namespace geosft::test::test_convert_graphs {
namespace {

ProcessResult python(std::vector<std::string> arguments) {
  static const std::string interpreter = find_python();
  return test::python(interpreter, std::move(arguments));
}

ProcessResult convert(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), GEOSFT_SOURCE_DIR "/tools/convert_graphs.py");
  return python(std::move(arguments));
}

// Runs `code`, which may use numpy as np and `dump(data, name)`, which pickles into `folder`.
void make_pickles(const TemporaryFolder& folder, const std::string& code) {
  const std::string helper =
      "import os, pickle, sys\nimport numpy as np\n"
      "dump = lambda data, name: pickle.dump(data, open(os.path.join(sys.argv[1], name), 'wb'))\n";
  const ProcessResult made = python({"-c", helper + code, folder.path()});
  INFO(made.err);
  REQUIRE(made.exit == 0);
}

// A path of three nodes, its edges not in order, and a single node; labels 4 and 9.
const std::string path_graph =
    "x = np.arange(6, dtype=np.float32).reshape(3, 2)\n"
    "path = (x, np.arange(4, dtype=np.float64).reshape(4, 1), np.array([[1, 0, 2, 1], [2, 1, 1, 0]]), [4, 9, 4])\n"
    "node = (x[:1], np.zeros((0, 1)), np.zeros((2, 0), int), np.array([9]))\n";

ProcessResult convert_superpixels(const TemporaryFolder& folder) {
  return convert({"superpixels", "--train", folder / "train.pickle", "--val", folder / "val.pickle", "--test",
                  folder / "test.pickle", "--out", folder / "set.h5"});
}

// `code` makes `data`, the training part of three.
void require_refused(const std::string& code, const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  make_pickles(folder, path_graph + code +
                           "\ndump(data, 'train.pickle'); dump([node], 'val.pickle'); dump([node], 'test.pickle')");
  const ProcessResult result = convert_superpixels(folder);
  CHECK(result.exit == 1);
  INFO(result.err);
  for (const std::string& word : words) CHECK_THAT(result.err, Catch::Contains(word));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(folder / "set.h5"));
}

}  // namespace

TEST_CASE("convert_graphs: pickled superpixels become packed graphs") {
  if (find_python().empty()) return;
  const TemporaryFolder folder;
  make_pickles(
      folder,
      path_graph + "dump([path, node], 'train.pickle'); dump([node], 'val.pickle'); dump([path], 'test.pickle')");
  const ProcessResult result = convert_superpixels(folder);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK_THAT(result.out, Catch::Contains("4 graphs, 8 nodes"));
  const PackedGraphs packed = read_packed_graphs(folder / "set.h5");
  CHECK(packed.schema == GraphSchema{GraphTask::node_classification, {}, 2, {}, 1, false, {"4", "9"}});
  require_equal(packed.graphs.ptr, at::tensor({0, 3, 4, 5, 8}, at::kLong), "ptr");
  require_equal(packed.graphs.graph.rowptr.narrow(0, 0, 6), at::tensor({0, 1, 3, 4, 4, 4}, at::kLong), "rowptr");
  require_equal(packed.graphs.graph.col.narrow(0, 0, 4), at::tensor({1, 2, 0, 1}, at::kLong), "col");
  require_equal(packed.edge_values.narrow(0, 0, 4).squeeze(1), at::tensor({1.0F, 0.0F, 3.0F, 2.0F}), "edge values");
  require_equal(packed.target, at::tensor({0, 1, 0, 1, 1, 0, 1, 0}, at::kLong), "classes");
  REQUIRE(packed.split);
  CHECK(packed.split->train == std::vector<int64_t>{0, 1});
  CHECK(packed.split->validation == std::vector<int64_t>{2});
  CHECK(packed.split->test == std::vector<int64_t>{3});
}

TEST_CASE("convert_graphs: the pickled split of the peptides") {
  if (find_python().empty()) return;
  const TemporaryFolder folder;
  make_pickles(folder, "dump({'train': np.array([3, 0]), 'val': [1], 'test': np.array([2])}, 'split.pickle')");
  const ProcessResult result = convert({"split", folder / "split.pickle", "--out", folder.path()});
  INFO(result.err);
  REQUIRE(result.exit == 0);
  const GraphSplit split =
      read_split({folder / "split_train.txt", folder / "split_val.txt", folder / "split_test.txt"}, 4);
  CHECK(split.train == std::vector<int64_t>{3, 0});
  CHECK(split.test == std::vector<int64_t>{2});
  make_pickles(folder, "dump({'train': [0]}, 'split.pickle')");
  CHECK(convert({"split", folder / "split.pickle", "--out", folder.path()}).exit == 1);
}

TEST_CASE("convert_graphs: broken pickles are refused in one line, and run nothing") {
  if (find_python().empty()) return;
  require_refused("data = 5", {"train.pickle", "a list of graphs", "int"});
  require_refused("data = [node[:3]]", {"train.pickle, graph 0", "(x, edge_attr, edge_index, y)"});
  require_refused("data = [node, (x, path[1], path[2] + 1, path[3])]", {"graph 1, edge_index", "0 to 2", "3"});
  require_refused("data = [(x, path[1][:3], path[2], path[3])]", {"edge_attr", "4 rows", "3"});
  require_refused("data = [(x, path[1], path[2], [4])]", {"graph 0, y", "3 rows", "1"});
  require_refused("data = [(x, path[1], path[2], [4, 0.5, 4])]", {"graph 0, y", "integers"});
  require_refused("data = [(x[0], path[1], path[2], path[3])]", {"graph 0, x", "rank 2"});
  require_refused("data = [node, (x[:1, :1], *node[1:])]", {"graph 1", "2 columns", "1"});
  require_refused(
      "class Bad:\n  def __reduce__(self): return os.mkdir, (os.path.join(sys.argv[1], 'harm'),)\ndata = [Bad()]",
      {"train.pickle", "plain data", "mkdir"});
  const TemporaryFolder folder;
  write_text(folder / "train.pickle", "no pickle");
  const ProcessResult result = convert_superpixels(folder);
  CHECK(result.exit == 1);
  CHECK_THAT(result.err, Catch::Contains("train.pickle"));
  CHECK(convert({}).exit == 2);
}

}  // namespace geosft::test::test_convert_graphs
