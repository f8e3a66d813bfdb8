// SPDX-License-Identifier: Apache-2.0
#include "data/formats/text_lines.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

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

TEST_CASE("byte-order marks, line ends of every system, and blocks filled with zeros") {
  for (const std::string text :
       {"\xEF\xBB\xBFone 1\ntwo", "one 1\r\ntwo\r\n", "one 1\r\r\ntwo\r\r\n", "one 1\rtwo\r"}) {
    CAPTURE(text);
    TextLines lines(text, "f.txt");
    REQUIRE(lines.next());
    CHECK(lines.word() == "one");
    CHECK(lines.number("a number") == 1);
    CHECK(lines.word().empty());
    REQUIRE(lines.next());
    CHECK(lines.word() == "two");
    CHECK(lines.line_number() == 2);
    CHECK_FALSE(lines.next());
  }
  const std::string text("one\n\0\0\x1a", 7);
  TextLines lines(text, "f.txt");
  REQUIRE(lines.next());
  CHECK_FALSE(lines.next());
}

TEST_CASE("a backslash continues a line where that is asked for, but not a comment") {
  TextLines lines("a\\\nb \\ \r\n\\\n c # d\\\ne\n# f \\\ng h\\", "f.txt", "", true);
  REQUIRE(lines.next());
  for (const char* word : {"a", "b", "c", ""}) CHECK(lines.word() == word);
  REQUIRE(lines.next());
  CHECK(lines.word() == "e");
  REQUIRE(lines.next());
  CHECK(lines.word() == "g");
  CHECK(lines.word() == "h");
  CHECK(lines.word().empty());
  CHECK_FALSE(lines.next());
  TextLines rest_left("a b\\\nc\nd", "f.txt", "", true);
  REQUIRE(rest_left.next());
  CHECK(rest_left.word() == "a");
  REQUIRE(rest_left.next());
  CHECK(rest_left.word() == "d");
  TextLines at_the_end("a \\", "f.txt", "", true);
  REQUIRE(at_the_end.next());
  CHECK(at_the_end.word() == "a");
  CHECK(at_the_end.word().empty());
  TextLines plain("a\\\nb", "f.txt");
  REQUIRE(plain.next());
  CHECK(plain.word() == "a\\");
}

TEST_CASE("numbers that need not be finite") {
  TextLines lines("nan -inf -1.#IND 1.#QNAN 1.#INF -1.#INF00 2 1.#x", "f.txt");
  REQUIRE(lines.next());
  CHECK(std::isnan(lines.any_number("a number")));
  CHECK(lines.any_number("a number") == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(lines.any_number("a number")));
  CHECK(std::isnan(lines.any_number("a number")));
  CHECK(lines.any_number("a number") == std::numeric_limits<double>::infinity());
  CHECK(lines.any_number("a number") == -std::numeric_limits<double>::infinity());
  CHECK(lines.any_number("a number") == 2);
  CHECK(lines.any_number("a number") == 1);  // "#x" is a comment
  test::require_error([&] { lines.any_number("a number"); }, {"f.txt:1", "the end of the line"});
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

TEST_CASE("decimal commas are told from commas between numbers") {
  for (const char* line : {"1,5 2,5", "1\t2,5", "-0,5 2"}) CHECK(has_decimal_commas(line));
  for (const char* line : {"1,2", "1, 2", "1.5,2 3", "a,5 2", "1 2 # 3,5"}) CHECK_FALSE(has_decimal_commas(line));
}

}  // namespace geosft::test::test_text_lines
