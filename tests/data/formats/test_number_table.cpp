// SPDX-License-Identifier: Apache-2.0
#include "data/formats/number_table.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_number_table {
using test::require_equal;
using test::require_error;

namespace {

NumberTable read_with(const std::string& text, bool allow_missing = false) {
  const test::TemporaryFolder folder;
  test::write_gz(folder / "t.csv.gz", text);
  return read_number_table(folder / "t.csv", allow_missing);
}

}  // namespace

TEST_CASE("tables of numbers, and whether they are categories") {
  const NumberTable classes = read_with("0,5\n\n2,1\n");
  CHECK(classes.categories);
  CHECK(classes.rows() == 2);
  CHECK(classes.lines == std::vector<int64_t>{1, 3});
  CHECK(classes.column_sizes() == std::vector<int64_t>{3, 6});
  require_equal(classes.tensor(), at::tensor({0.0F, 5.0F, 2.0F, 1.0F}).view({2, 2}), "values");
  for (const char* text : {"0,1.0\n", "-1,2\n", "1,1048576\n"}) CHECK_FALSE(read_with(text).categories);
  const NumberTable holes = read_with("1,,nan\n", true);
  CHECK_FALSE(holes.categories);
  CHECK(std::isnan(holes.values[1]));
  CHECK(std::isnan(holes.values[2]));
}

TEST_CASE("broken tables of numbers are refused by file and line") {
  require_error([] { read_with("1,2\n1\n"); }, {"t.csv.gz:2", "2 columns", "1"});
  require_error([] { read_with("1,2\n1,x\n"); }, {"t.csv.gz:2", "a number in column 2", "x"});
  require_error([] { read_with("1,\n"); }, {"t.csv.gz:1", "column 2", "empty"});
  require_error([] { read_with("inf\n"); }, {"t.csv.gz:1", "finite"});
  require_error([] { read_with(""); }, {"t.csv.gz", "rows of numbers", "none"});
  require_error([] { read_number_table("absent.csv"); }, {"absent.csv"});
}

TEST_CASE("tables of integers") {
  const test::TemporaryFolder folder;
  test::write_text(folder / "t.csv", "1,-2\n3,4\n");
  const IntegerTable table = read_integer_table(folder / "t.csv", 2, "a node");
  CHECK(table.values == std::vector<int64_t>{1, -2, 3, 4});
  CHECK(table.lines == std::vector<int64_t>{1, 2});
  require_error([&] { read_integer_table(folder / "t.csv", 1, "a node"); }, {"t.csv:1", "1 columns", "2"});
  test::write_text(folder / "t.csv", "1\n1.5\n");
  require_error([&] { read_integer_table(folder / "t.csv", 1, "a node"); }, {"t.csv:2", "a node", "1.5"});
}

}  // namespace geosft::test::test_number_table
