// SPDX-License-Identifier: Apache-2.0
#include "data/formats/text_lines.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_text_lines {

TEST_CASE("lines are split into words, comments and blank lines passed over") {
  TextLines lines("# comment\r\n\r\n a\tb  c#d\r\n\n e,f", "f.txt", ",");
  REQUIRE(lines.next());
  CHECK(lines.line_number() == 3);
  CHECK(lines.word() == "a");
  CHECK(lines.word() == "b");
  CHECK(lines.word() == "c");
  CHECK(lines.word().empty());
  CHECK(lines.word().empty());
  REQUIRE(lines.next());
  CHECK(lines.word() == "e");
  CHECK(lines.word() == "f");
  CHECK_FALSE(lines.next());
}

TEST_CASE("skipped lines leave nothing behind") {
  TextLines lines("one\ntwo\n\nfour", "f.txt");
  lines.skip(2);
  CHECK(lines.word().empty());
  REQUIRE(lines.next());
  CHECK(lines.word() == "four");
  CHECK(lines.line_number() == 4);
}

TEST_CASE("numbers are read in all the ways that programs write them") {
  TextLines lines("1 -2.5 +3 1e-3 .5 4. 1E5 1e-400 -7 +8", "f.txt");
  REQUIRE(lines.next());
  for (const double expected : {1.0, -2.5, 3.0, 1e-3, 0.5, 4.0, 1e5, 0.0}) CHECK(lines.number("a number") == expected);
  CHECK(lines.integer("an integer") == -7);
  CHECK(lines.integer("an integer") == 8);
}

TEST_CASE("broken numbers are named with file and line") {
  for (const std::string bad :
       {"abc", "1,5", "nan", "NaN", "inf", "-inf", "1e999", "0x10", "1.5.2", "--1", "+-1", "1f"}) {
    const std::string text = "\n" + bad;
    TextLines lines(text, "f.txt");
    REQUIRE(lines.next());
    test::require_error([&] { lines.number("a coordinate"); }, {"f.txt:2", "a coordinate", "\"" + bad + "\""});
  }
  for (const std::string bad : {"1.5", "99999999999999999999", "x"}) {
    TextLines lines(bad, "f.txt");
    REQUIRE(lines.next());
    test::require_error([&] { lines.integer("an index"); }, {"f.txt:1", "an index", bad});
  }
  TextLines lines("1", "f.txt");
  REQUIRE(lines.next());
  lines.number("a number");
  test::require_error([&] { lines.number("a number"); }, {"the end of the line"});
  CHECK_FALSE(lines.next());
  test::require_error([&] { lines.number("a number"); }, {"the end of the file"});
}

}  // namespace geosft::test::test_text_lines
