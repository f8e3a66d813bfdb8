// SPDX-License-Identifier: Apache-2.0
#include "data/line_stream.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_line_stream {

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

}  // namespace geosft::test::test_line_stream
