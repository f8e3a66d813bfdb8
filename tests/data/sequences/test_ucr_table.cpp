// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_ucr_table {
namespace {

TsFile read(const std::string& text) {
  return read_written("S_TRAIN.tsv", text, [](const auto& file) { return read_ucr_table(file); });
}

}  // namespace

TEST_CASE("a line of a UCR table is a class and a series", "[ucr_table]") {
  const TsFile set = read(
      "\xEF\xBB\xBF"
      "10\t0.5\t-1\tNaN\n2.0000e+00  NaN 3\n-1\t1.0D+00\tNaN\t4\tnan\tNaN\n");
  CHECK(set.classes == std::vector<std::string>{"-1", "2", "10"});
  require_equal(set.labels, at::tensor({2, 1, 0}, at::kLong), "labels");
  require_equal(set.ptr, at::tensor({0, 2, 4, 7}, at::kLong), "ptr");
  require_equal(set.values.squeeze(1).nan_to_num(99), at::tensor({0.5, -1.0, 99.0, 3.0, 1.0, 99.0, 4.0}, at::kFloat),
                "values");
  CHECK_THAT(set.file, Catch::EndsWith("S_TRAIN.tsv"));
}

TEST_CASE("an empty field of a UCR table is a missing value, at its end padding", "[ucr_table]") {
  for (const char* text : {"1\t0.5\t\t0.8\t\t\n2\t\t3\n", "1,0.5,,0.8,,\n2, ,3\n", "1, 0.5, , 0.8 # end\n2,\t,3\r\n"}) {
    INFO(text);
    const TsFile set = read(text);
    require_equal(set.ptr, at::tensor({0, 3, 5}, at::kLong), "ptr");
    require_equal(set.values.squeeze(1).nan_to_num(99), at::tensor({0.5, 99.0, 0.8, 99.0, 3.0}, at::kFloat), "values");
  }
  // Several kinds of separators.
  for (const char* text : {"1  0.5\t 0.6\n", "1\t0.5,0.6\n", "1 0.5,0.6\n"}) {
    require_equal(read(text).values.squeeze(1), at::tensor({0.5, 0.6}, at::kFloat), "values");
  }
}

TEST_CASE("broken UCR tables are refused by line", "[ucr_table]") {
  require_error([] { read(""); }, {"S_TRAIN.tsv", "a series per line", "none"});
  require_error([] { read("1\t2\na\t3\n"); }, {"S_TRAIN.tsv:2", "a class that is a number", "a"});
  require_error([] { read("1.5\t2\t3\n"); }, {":1", "a class, a whole number", "1.5"});
  require_error([] { read("1\t2\n1\t2,5\t3\n"); }, {":2", "decimal points", "2,5"});
  require_error([] { read("1\t2\tx\n"); }, {":1", "a number", "x"});
  require_error([] { read("1\t2\tinf\n"); }, {":1", "finite", "inf"});
  require_error([] { read("1\t2\t-3.4028235e38\n"); }, {":1", "at most 1e30", "-3.4028235e38"});
  require_error([] { read("1\t2\t-1.#IND\t3\n"); }, {":1", "a number", "-1.#IND"});
  require_error([] { read(",1,2\n"); }, {":1", "a class that is a number", "an empty field"});
  require_error([] { read("1,2\n,\v\n"); }, {":2", "a class that is a number", "an empty field"});
  require_error([] { read("1\n"); }, {":1", "values behind the class"});
  require_error([] { read("1\tNaN\n"); }, {":1", "values behind the class", "none"});
}

}  // namespace geosft::test::test_ucr_table
