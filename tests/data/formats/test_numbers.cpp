// SPDX-License-Identifier: Apache-2.0
#include "data/formats/text_lines.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace geosft::test::test_numbers {

TEST_CASE("words are numbers as a whole or not at all") {
  CHECK(parse_number("1.5") == 1.5);
  CHECK(parse_number("+2e3") == 2000.0);
  CHECK(parse_number("-0.25") == -0.25);
  CHECK(parse_number("1e-400") == 0.0);
  CHECK(std::isinf(*parse_number("1e400")));
  CHECK(std::isnan(*parse_number("nan")));
  for (const char* word : {"", "+", "-", "+-1", "1x", "x", "1 ", " 1", "1,5", "d", "1d", "D+00", "1x2d3"}) {
    CHECK_FALSE(parse_number(word));
  }
}

TEST_CASE("exponents may be written as by Fortran") {
  CHECK(parse_number("1.0D+00") == 1.0);
  CHECK(parse_number("-2.5d-01") == -0.25);
  CHECK(parse_number("+3D2") == 300.0);
  CHECK(std::isinf(*parse_number("1D400")));
}

TEST_CASE("words are integers as a whole or not at all") {
  CHECK(parse_integer("-12") == -12);
  CHECK(parse_integer("+7") == 7);
  CHECK(parse_integer("9223372036854775807") == INT64_MAX);
  for (const char* word : {"", "1.0", "9223372036854775808", "1e3", "+-1", "0x1"}) CHECK_FALSE(parse_integer(word));
}

}  // namespace geosft::test::test_numbers
