// SPDX-License-Identifier: Apache-2.0
#include "data/formats/compression.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_lzf {

using geosft::decompress_lzf;

TEST_CASE("LZF: literals, short, long and overlapping copies") {
  const std::string abc(
      "\x02"
      "abc",
      4);
  CHECK(decompress_lzf(abc, 3) == "abc");
  CHECK(decompress_lzf(abc + std::string("\x20\x02", 2), 6) == "abcabc");              // 3 bytes from 3 back
  CHECK(decompress_lzf(abc + std::string("\x40\x00", 2), 7) == "abccccc");             // 4 bytes from 1 back
  CHECK(decompress_lzf(abc + std::string("\xe0\x01\x01", 3), 13) == "abcbcbcbcbcbc");  // 7 + 1 + 2 bytes from 2 back
  CHECK(decompress_lzf("", 0) == "");
}

TEST_CASE("LZF: damaged streams") {
  const std::string abc(
      "\x02"
      "abc",
      4);
  CHECK_FALSE(decompress_lzf(abc, 2));               // more than announced
  CHECK_FALSE(decompress_lzf(abc, 4));               // less than announced
  CHECK_FALSE(decompress_lzf(abc.substr(0, 3), 3));  // ends in literals
  CHECK_FALSE(decompress_lzf(abc + "\x20", 6));      // ends in a copy
  CHECK_FALSE(decompress_lzf(abc + std::string("\xe0\x01", 2), 13));
  CHECK_FALSE(decompress_lzf(abc + std::string("\x20\x03", 2), 6));  // from before the beginning
  CHECK_FALSE(decompress_lzf(abc, size_t{1} << 40));                 // nothing of the kind is allocated
}

}  // namespace geosft::test::test_lzf
