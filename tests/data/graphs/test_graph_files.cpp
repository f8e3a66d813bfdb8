// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_files.h"

#include <catch2/catch.hpp>

#include "data/graphs/graph_formats.h"
#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_graph_files {
using test::require_equal;
using test::require_error;

namespace {

FileGraph read_with(const std::string& name, const std::string& text, bool directed = false) {
  return read_written(name, text, [&](const auto& file) { return read_graph_file(file, directed); });
}

void require_broken(const std::string& name, const std::string& text, std::vector<std::string> words) {
  words.push_back(name);
  require_error([&] { read_with(name, text); }, words);
}

const std::string banner = "%%MatrixMarket matrix coordinate ";

}  // namespace

TEST_CASE("a list of edges") {
  const FileGraph listed = read_with("g.txt", "# comment\n7 3\n3\t900000000000\n\n% another\n7,3\n3 3\n");
  require_equal(listed.ids, longs({3, 7, 900000000000}), "ids");
  require_equal(listed.graph.rowptr, longs({0, 4, 6, 7}), "rowptr");
  require_equal(listed.graph.col, longs({2, 0, 1, 1, 0, 0, 0}), "col");
  CHECK_FALSE(listed.graph.weight.defined());
  const FileGraph directed = read_with("g.csv",
                                       "\xEF\xBB\xBF"
                                       "0;1;0.5\n1;2;2.0D+00\n",
                                       true);
  require_equal(directed.graph.rowptr, longs({0, 1, 2, 2}), "rowptr");
  require_equal(directed.graph.weight, at::tensor({0.5, 2.0}, at::kDouble), "weight");
}

TEST_CASE("broken lists of edges are refused by line") {
  require_broken("g.txt", "", {"a line for every edge", "none"});
  require_broken("g.txt", "0 1\n2\n", {":2", "node", "end of the line"});
  require_broken("g.txt", "0 1\n0 -2\n", {":2", "from 0", "-2"});
  require_broken("g.txt", "0 a\n", {":1", "node", "a"});
  require_broken("g.txt", "0 1\n1 2 0.5\n", {":2", "two nodes", "0.5"});
  require_broken("g.txt", "0 1 1\n1 2\n", {":2", "a weight", "end of the line"});
  require_broken("g.txt", "0 1 nan\n", {":1", "finite", "nan"});
  require_broken("g.txt", "# c\n0 1 1\n1 2 -0.5\n", {":3", "a weight of at least 0", "-0.5"});
  require_broken("g.txt", "0 1 {}\n", {":1", "a weight", "data=False", "{}"});
  require_broken("g.txt", "0 1 1 1\n", {":1", "a weight", "1"});
  require_broken("g.txt", "0 99999999999999999999\n", {":1", "node"});
}

TEST_CASE("Matrix Market: general and symmetric") {
  const FileGraph general = read_with("g.mtx", banner + "real general\n% c\n3 3 2\n1 2 0.5\n3 3 1D0\n");
  require_equal(general.graph.rowptr, longs({0, 1, 1, 2}), "rowptr");
  require_equal(general.graph.col, longs({1, 2}), "col");
  require_equal(general.graph.weight, at::tensor({0.5, 1.0}, at::kDouble), "weight");
  require_equal(general.ids, longs({1, 2, 3}), "ids");
  const FileGraph symmetric =
      read_with("g.mtx", "%%matrixmarket MATRIX Coordinate pattern Symmetric\n2 2 2\n1 1\n2 1\n");
  require_equal(symmetric.graph.rowptr, longs({0, 2, 3}), "rowptr");
  require_equal(symmetric.graph.col, longs({0, 1, 0}), "col");
  CHECK_FALSE(symmetric.graph.weight.defined());
  const FileGraph weighted = read_with("g.mtx", banner + "integer symmetric\n2 2 1\n2 1 3\n");
  require_equal(weighted.graph.weight, at::tensor({3.0, 3.0}, at::kDouble), "weight");
  const test::TemporaryFolder folder;
  test::write_gz(folder / "g.mtx.gz", banner + "pattern general\n4 4 0\n");
  CHECK(read_graph_file(folder / "g.mtx.gz").graph.nodes() == 4);
}

TEST_CASE("broken Matrix Market files are refused by line") {
  require_broken("g.mtx", "", {"MatrixMarket"});
  require_broken("g.mtx", "3 3 1\n1 1 1\n", {":1", "MatrixMarket"});
  require_broken("g.mtx", "%%MatrixMarket matrix array real general\n", {":1", "matrix coordinate", "matrix array"});
  require_broken("g.mtx", banner + "complex general\n", {":1", "real", "complex"});
  require_broken("g.mtx", banner + "real hermitian\n", {":1", "symmetric", "hermitian"});
  require_broken("g.mtx", banner + "real skew-symmetric\n", {":1", "weights of at least 0", "skew-symmetric"});
  require_broken("g.mtx", banner + "real general\n3 3 2\n1 2 1\n2 3 -2\n", {":4", "a weight of at least 0", "-2"});
  require_broken("g.mtx", banner + "real general\n", {"number of rows", "end of the file"});
  require_broken("g.mtx", banner + "real general\n3 4 1\n", {":2", "square", "3 x 4"});
  require_broken("g.mtx", banner + "real general\n0 0 0\n", {":2", "at least one row"});
  require_broken("g.mtx", banner + "real general\n3 3 -1\n", {":2", "number of entries", "-1"});
  require_broken("g.mtx", banner + "real general\n3 3 2\n1 1 1\n", {"2 entries", "1"});
  require_broken("g.mtx", banner + "real general\n3 3 1\n1 1 1\n2 2 1\n", {":4", "after 1 entries"});
  require_broken("g.mtx", banner + "real general\n3 3 1\n1 4 1\n", {":3", "a column from 1 to 3", "4"});
  require_broken("g.mtx", banner + "real general\n3 3 1\n0 1 1\n", {":3", "a row from 1 to 3", "0"});
  require_broken("g.mtx", banner + "real general\n3 3 1\n1 1\n", {":3", "a value"});
  require_broken("g.mtx", banner + "pattern general\n3 3 1\n1 1 1\n", {":3", "an entry", "1"});
  require_broken("g.mtx", banner + "real symmetric\n3 3 1\n1 2 1\n", {":3", "below the diagonal or on it", "1 2"});
  require_broken("g.mtx", banner + "real general\n900000000000 900000000000 1\n1 1 1\n",
                 {":2", "rows", "900000000000"});
  require_broken("g.mtx", banner + "real general\n3 3 900000000000\n1 1 1\n", {"900000000000 entries", "1"});
}

}  // namespace geosft::test::test_graph_files
