// SPDX-License-Identifier: Apache-2.0
// tools/convert_graphs.py and tools/tensor_pickles.py.
#include <catch2/catch.hpp>

#include "data/graphs/graph_dataset.h"
#include "data/graphs/packed_graphs_file.h"
#include "tests/data/files.h"
#include "tests/places.h"
#include "tests/support.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test::test_convert_graphs {
namespace {

ProcessResult python(std::vector<std::string> arguments) {
  static const std::string interpreter = find_python();
  return test::python(interpreter, std::move(arguments));
}

ProcessResult convert(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), source_path("tools/convert_graphs.py"));
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

// Tensors of the numbers 0 to 5 as PyTorch pickles them, made without it.
const std::string tensors = R"(
import collections, io, types

def named(module, name):
    module_of_it = sys.modules.setdefault(module, types.ModuleType(module))
    return vars(module_of_it).setdefault(name, type(name, (), {'__module__': module}))

class Pickled:
    def __init__(self, module, name, *arguments): self.call = named(module, name), arguments
    def __reduce__(self): return self.call

class StoragePickler(pickle.Pickler):
    def persistent_id(self, item): return item if type(item) is tuple and item[0] == 'storage' else None

def storage(kind='FloatStorage', count=6, data=np.arange(6, dtype='<f4').tobytes(), part=None):
    file = io.BytesIO()
    entry = ('storage', named('torch', kind), '7', 'cpu', count, part)
    for item in (0x1950a86a20f9469cfc6c, 1001, {}, entry, ['7']): StoragePickler(file, 2).dump(item)
    return Pickled('torch.storage', '_load_from_bytes', file.getvalue() + (6).to_bytes(8, 'little') + data)

def tensor(size, stride, offset=0, of=storage(), *more):
    hooks = collections.OrderedDict()
    return Pickled('torch._utils', '_rebuild_tensor_v2', of, offset, size, stride, False, hooks, *more)
)";

ProcessResult convert_superpixels(const TemporaryFolder& folder) {
  return convert({"superpixels", "--train", folder / "train.pickle", "--val", folder / "val.pickle", "--test",
                  folder / "test.pickle", "--out", folder / "set.h5"});
}

// `code` makes `data`, the training split of three.
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

// `x` makes the nodes of a graph.
void require_tensor_refused(const std::string& x, std::vector<std::string> words) {
  words.emplace_back("train.pickle: no pickle of plain data");
  require_refused(tensors + "data = [(" + x + ", *path[1:])]", words);
}

}  // namespace

TEST_CASE("convert_graphs: pickles of every protocol, and those of Python 2, hold the same") {
  if (find_python().empty()) return;
  const TemporaryFolder folder;
  for (const char* protocol : {"0", "1", "2", "3", "4"}) {
    const std::string dump =
        std::string("dump = lambda data, name: pickle.dump(data, open(os.path.join(sys.argv[1], ") +
        "name), 'wb'), protocol=" + protocol + ")\n";
    make_pickles(folder, dump + path_graph + tensors + "table = (tensor((3, 2), (2, 1)), *path[1:])\n" +
                             "dump([table, node], 'train.pickle'); dump([node], 'val.pickle'); dump([path], "
                             "'test.pickle'); dump({'train': np.arange(2), 'val': [2], 'test': []}, 'split.pickle')");
    const ProcessResult result = convert_superpixels(folder);
    INFO(protocol << ": " << result.err);
    REQUIRE(result.exit == 0);
    const PackedItems packed = read_packed_graphs(folder / "set.h5");
    require_equal(packed.graphs.ptr, at::tensor({0, 3, 4, 5, 8}, at::kLong), "ptr");
    require_equal(packed.node_values.narrow(0, 0, 3), at::arange(6).view({3, 2}).to(at::kFloat), "node values");
    CHECK(convert({"split", folder / "split.pickle", "--out", folder.path()}).exit == 0);
  }
  // As Python 2 pickles the array [1, 2]: its bytes are a string, behind the opcode U.
  make_pickles(folder, R"(
old = (b'\x80\x02}(U\x05traincnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x02\x85'
       b'cnumpy\ndtype\nU\x02i4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb'
       b'\x89U\x08\x01\x00\x00\x00\x02\x00\x00\x00tbU\x03val]U\x04test]u.')
open(os.path.join(sys.argv[1], 'old.pickle'), 'wb').write(old)
)");
  const ProcessResult old = convert({"split", folder / "old.pickle", "--out", folder.path()});
  INFO(old.err);
  CHECK(old.exit == 0);
  CHECK(read_text(folder / "split_train.txt") == "1\n2\n");
}

TEST_CASE("convert_graphs: bytes in a pickle are encoded as latin1 alone") {
  require_refused(
      "class Bad:\n    def __reduce__(self):\n        import codecs\n        return codecs.encode, "
      "('a', 'rot13')\ndata = [Bad()]",
      {"train.pickle: no pickle of plain data"});
}

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
  const PackedItems packed = read_packed_graphs(folder / "set.h5");
  CHECK(packed.schema == ItemSchema{GraphTask::node_classification, {}, 2, {}, 1, false, {"4", "9"}});
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

TEST_CASE("convert_graphs: tensors of pickled superpixels need no PyTorch") {
  if (find_python().empty()) return;
  const TemporaryFolder folder;
  std::filesystem::copy_file(fixture_path("superpixels_tensors.pickle"), folder / "train.pickle");
  make_pickles(folder, path_graph + tensors +
                           "dump([(tensor((3, 2), (1, 3)), *path[1:])], 'val.pickle')\n"
                           "dump([(tensor((1, 2), (9, 5)), tensor((0, 1), (1, 1), 6), *node[2:])], 'test.pickle')");
  const ProcessResult result = convert_superpixels(folder);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  const PackedItems packed = read_packed_graphs(folder / "set.h5");
  require_equal(packed.graphs.ptr, at::tensor({0, 3, 5, 8, 9}, at::kLong), "ptr");
  require_equal(packed.graphs.graph.col.narrow(0, 0, 6), at::tensor({1, 2, 0, 1, 4, 3}, at::kLong), "col");
  const at::Tensor nodes = at::tensor({1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 0, 3, 1, 4, 2, 5, 0, 5}, at::kFloat);
  require_equal(packed.node_values, nodes.reshape({9, 2}), "node values");
  const at::Tensor edges = at::tensor({0.25F, 0.0F, 0.75F, 0.5F, 0.0F, 1.0F});
  require_equal(packed.edge_values.narrow(0, 0, 6).squeeze(1), edges, "edge values");
  require_equal(packed.target, at::tensor({0, 1, 0, 1, 0, 0, 1, 0, 1}, at::kLong), "classes");
}

TEST_CASE("convert_graphs: tensors beyond their storage, and broken storages, are refused in one line") {
  if (find_python().empty()) return;
  require_tensor_refused("tensor((4, 2), (2, 1))", {"within its 6 elements", "size (4, 2), stride (2, 1) from 0"});
  require_tensor_refused("tensor((3, 2), (2, 1), 1)", {"within its 6 elements", "from 1"});
  require_tensor_refused("tensor((3, 2), (2**62, 1))", {"within its 6 elements"});
  require_tensor_refused("tensor((10**12, 2), (0, 1))", {"within its 6 elements"});
  require_tensor_refused("tensor((3, 2), (-2, 1), 4)", {"sizes and strides", "stride (-2, 1) from 4"});
  require_tensor_refused("tensor((3, 2), (2, 1), -1)", {"sizes and strides", "from -1"});
  require_tensor_refused("tensor((3, -2), (2, 1))", {"sizes and strides", "size (3, -2)"});
  require_tensor_refused("tensor((3, 2), (2,))", {"sizes and strides"});
  require_tensor_refused("tensor((3, 2), (2, 1), of=x)", {"a plain tensor", "ndarray"});
  require_tensor_refused("tensor((3, 2), (2, 1), 0, storage(), {'neg': True})", {"plain tensor", "neg"});
  require_tensor_refused("tensor((3, 2), (2, 1), of=storage('BFloat16Storage'))", {"torch.BFloat16Storage"});
  require_tensor_refused("tensor((3, 2), (2, 1), of=storage(part=('8', 0, 6)))", {"whole storage"});
  require_tensor_refused("tensor((3, 2), (2, 1), of=storage(count=7))", {"7 float32", "6 in 24 bytes"});
  require_tensor_refused("tensor((3, 2), (2, 1), of=storage(data=b'1234567'))", {"6 float32", "6 in 7 bytes"});
  const std::string bytes = "tensor((3, 2), (2, 1), of=Pickled('torch.storage', '_load_from_bytes', ";
  require_tensor_refused(bytes + "b''))", {"Ran out of input"});
  require_tensor_refused(bytes + "storage().call[1][0][:99]))", {});
  require_tensor_refused(bytes + "pickle.dumps(1) * 5))", {"storage of version 1001", "1"});
  require_tensor_refused(bytes + "pickle.dumps(os.mkdir)))", {"a storage of numbers", "mkdir"});
}

TEST_CASE("convert_graphs: the pickled split of the peptides") {
  if (find_python().empty()) return;
  const TemporaryFolder folder;
  make_pickles(folder, "dump({'train': np.array([3, 0]), 'val': [1], 'test': np.array([2])}, 'split.pickle')");
  const ProcessResult result = convert({"split", folder / "split.pickle", "--out", folder.path()});
  INFO(result.err);
  REQUIRE(result.exit == 0);
  const DatasetSplit split =
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
  require_refused("data = [([[1], [1, 2]], *path[1:])]", {"graph 0, x", "several lengths"});
  require_refused("data = [(*path[:3], [4, np.nan, 4])]", {"graph 0, y", "integers"});
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
