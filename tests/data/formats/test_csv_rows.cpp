// SPDX-License-Identifier: Apache-2.0
#include "data/formats/csv_rows.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"

namespace geosft::test::test_csv_rows {
using test::require_error;

namespace {

std::vector<std::string> fields(const CsvRows& rows) {
  std::vector<std::string> out;
  for (size_t i = 0; i < rows.size(); ++i) out.emplace_back(rows[i]);
  return out;
}

using Fields = std::vector<std::string>;

}  // namespace

TEST_CASE("rows of comma-separated values") {
  CsvRows rows("a, b ,c\r\n\n1,,\"x, \"\"y\"\"\nz\"\n\"\",\"[0, 1]\",3", "t.csv");
  REQUIRE(rows.next());
  CHECK(fields(rows) == Fields{"a", "b", "c"});
  CHECK(rows.line_number() == 1);
  REQUIRE(rows.next());
  CHECK(fields(rows) == Fields{"1", "", "x, \"y\"\nz"});
  CHECK(rows.line_number() == 3);
  REQUIRE(rows.next());
  CHECK(fields(rows) == Fields{"", "[0, 1]", "3"});
  CHECK(rows.line_number() == 5);
  CHECK_FALSE(rows.next());
  CHECK_FALSE(CsvRows("\n\r\n", "t.csv").next());
}

TEST_CASE("a byte-order mark is not part of the first field") {
  CsvRows rows("\xEF\xBB\xBF\"a\",b\n", "t.csv");
  REQUIRE(rows.next());
  CHECK(fields(rows) == Fields{"a", "b"});
}

TEST_CASE("fields of a table as numbers") {
  CsvRows rows("1.5,-3,,nan,1e999,x\n", "t.csv");
  REQUIRE(rows.next());
  CHECK(rows.number(0, "a number") == 1.5);
  CHECK(rows.integer(1, "an integer") == -3);
  CHECK(std::isnan(rows.number_or_nan(2, "a number")));
  CHECK(std::isnan(rows.number_or_nan(3, "a number")));
  CHECK(rows.number_or_nan(0, "a number") == 1.5);
  require_error([&] { (void)rows.integer(0, "an integer"); }, {"t.csv:1", "an integer in column 1", "\"1.5\""});
  require_error([&] { (void)rows.number(2, "a number"); }, {"t.csv:1", "a number in column 3", "an empty field"});
  require_error([&] { (void)rows.number(4, "a number"); }, {"column 5", "finite"});
  require_error([&] { (void)rows.number_or_nan(5, "a number"); }, {"column 6", "\"x\""});
}

TEST_CASE("broken quotes are refused by line") {
  CsvRows open("a\n\"b,c\nd", "t.csv");
  REQUIRE(open.next());
  require_error([&] { open.next(); }, {"t.csv:2", "closes column 1", "none"});
  CsvRows behind("\"a\"b,c\n", "t.csv");
  require_error([&] { behind.next(); }, {"t.csv:1", "after the quotes", "b"});
}

TEST_CASE("CSV: other separators, with commas in fields") {
  CsvRows rows("a;b\n\"x;y\";1,5\n", "t.csv", ';');
  REQUIRE(rows.next());
  CHECK(fields(rows) == std::vector<std::string>{"a", "b"});
  REQUIRE(rows.next());
  CHECK(fields(rows) == std::vector<std::string>{"x;y", "1,5"});
  CHECK_FALSE(rows.next());
  CsvRows broken("\"a\"b;c\n", "t.csv", ';');
  require_error([&] { broken.next(); }, {"t.csv:1", "a semicolon or the end of the line", "\"b\""});
}

}  // namespace geosft::test::test_csv_rows
