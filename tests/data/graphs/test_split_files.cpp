// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_split_files {
using test::require_error;
using Items = std::vector<int64_t>;

namespace {

SplitFiles write_split(const test::TemporaryFolder& folder, const std::string& train, const std::string& test) {
  test::write_text(folder / "train.txt", train);
  test::write_gz(folder / "val.txt.gz", "1\n");
  test::write_text(folder / "test.txt", test);
  return {folder / "train.txt", folder / "val.txt", folder / "test.txt"};
}

void require_broken(const std::string& train, const std::string& test, const std::vector<std::string>& words) {
  const test::TemporaryFolder folder;
  const SplitFiles files = write_split(folder, train, test);
  require_error([&] { read_split(files, 5); }, words);
}

}  // namespace

TEST_CASE("a split of three files, plain or compressed") {
  const test::TemporaryFolder folder;
  const DatasetSplit split = read_split(write_split(folder, "0\n4\n\n2\n", "3\n"), 5);
  CHECK(split.train == Items{0, 4, 2});
  CHECK(split.validation == Items{1});
  CHECK(split.test == Items{3});
  const DatasetSplit less = restricted_split(split, {1, 2, 3}, 5);
  CHECK(less.train == Items{1});
  CHECK(less.validation == Items{0});
  CHECK(less.test == Items{2});
}

TEST_CASE("broken splits are refused by file and line") {
  require_broken("0\n5\n", "3\n", {"train.txt:2", "0 to 4", "5"});
  require_broken("0\n-1\n", "3\n", {"train.txt:2", "0 to 4", "-1"});
  require_broken("0\nx\n", "3\n", {"train.txt:2", "item", "x"});
  require_broken("0 1\n", "3\n", {"train.txt:1", "end of the line", "1"});
  require_broken("0\n", "3\n1\n", {"test.txt:2", "once", "item 1 again"});
  const test::TemporaryFolder folder;
  SplitFiles files = write_split(folder, "0\n", "3\n");
  files.validation = folder / "absent.txt";
  require_error([&] { read_split(files, 5); }, {"absent.txt", "split", "no such file"});
}

}  // namespace geosft::test::test_split_files
