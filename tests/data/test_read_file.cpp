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
  test::write_text(folder / "names.txt", " chair\r\n\n\tnight stand \n\flast\v\x1A");
  CHECK(read_lines(folder / "names.txt") == std::vector<std::string>{"chair", "night stand", "last"});
  test::write_text(folder / "empty.txt", " \n\n");
  test::require_error([&] { read_lines(folder / "empty.txt"); }, {"empty.txt", "one name a line"});
}

TEST_CASE("lines come one by one, and empty ones do not", "[line_stream]") {
  const TemporaryFolder folder;
  write_text(folder / "a.txt", "first\tline \r\n\n \t\nthird\n# no comment");
  LineStream lines(folder / "a.txt");
  REQUIRE(lines.next());
  CHECK(lines.line() == "first\tline");
  REQUIRE(lines.next());
  CHECK(lines.line() == "third");
  require_error([&] { lines.fail("a number", "a word"); }, {"a.txt:4", "expected a number", "found a word"});
  REQUIRE(lines.next());
  CHECK(lines.line() == "# no comment");
  CHECK_FALSE(lines.next());
  CHECK_FALSE(lines.next());
}

TEST_CASE("what is no file has no lines", "[line_stream]") {
  const TemporaryFolder folder;
  require_error([&] { LineStream(folder / "absent"); }, {"absent", "nothing of this name"});
  require_error([&] { LineStream{folder.path()}; }, {"a folder or a device"});
  write_text(folder / "empty", "");
  CHECK_FALSE(LineStream(folder / "empty").next());
}

}  // namespace geosft::test::test_read_file
