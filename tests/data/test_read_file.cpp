// SPDX-License-Identifier: Apache-2.0
#include "data/read_file.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_read_file {

TEST_CASE("read_file gives every byte, and says what is wrong otherwise") {
  const test::TemporaryFolder folder;
  const std::string bytes("a\0\r\n\xff", 5);
  test::write_text(folder / "bytes", bytes);
  CHECK(read_file(folder / "bytes") == bytes);
  test::require_error([&] { read_file(folder / "absent.obj"); }, {"absent.obj", "nothing of this name"});
  test::require_error([&] { read_file(folder.path()); }, {folder.path().string(), "a folder"});
}

TEST_CASE("the only file of an ending is found") {
  const test::TemporaryFolder folder;
  CHECK(only_file(folder / "absent", ".tsv").empty());
  CHECK(only_file(folder.path(), ".tsv").empty());
  test::write_text(folder / "a.tsv", "x");
  CHECK(only_file(folder.path(), ".tsv") == folder / "a.tsv");
  test::write_text(folder / "b.tsv", "x");
  test::require_error([&] { only_file(folder.path(), ".tsv"); }, {"one file *.tsv", "several"});
}

TEST_CASE("read_lines drops blanks and blank lines") {
  const test::TemporaryFolder folder;
  test::write_text(folder / "names.txt", " chair\r\n\n\tnight stand \nlast");
  CHECK(read_lines(folder / "names.txt") == std::vector<std::string>{"chair", "night stand", "last"});
  test::write_text(folder / "empty.txt", " \n\n");
  test::require_error([&] { read_lines(folder / "empty.txt"); }, {"empty.txt", "one name a line"});
}

}  // namespace geosft::test::test_read_file
