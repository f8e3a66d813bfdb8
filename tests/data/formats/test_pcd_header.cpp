// SPDX-License-Identifier: Apache-2.0
#include "data/formats/pcd_header.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_pcd_header {

TEST_CASE("PCD header: fields with their offsets") {
  const std::string head =
      "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z histogram rgb\nSIZE 4 4 8 2 4\nTYPE F F F U U\nCOUNT 1 1 1 3 1\nWIDTH "
      "2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA binary\n";
  const PcdHeader header = read_pcd_header(head + std::string(52, 'x'), "a.pcd");
  CHECK(header.encoding == PcdEncoding::binary);
  CHECK(header.points == 2);
  CHECK(header.point_size == 26);
  CHECK(header.point_columns == 7);
  CHECK(header.size == head.size());
  REQUIRE(header.find("rgb") != nullptr);
  CHECK(header.find("rgb")->offset == 22);
  CHECK(header.find("rgb")->column == 6);
  CHECK(header.find("normal_x") == nullptr);
  test::require_error([&] { read_pcd_header(head + std::string(51, 'x'), "a.pcd"); }, {"51 bytes", "2 points"});
}

TEST_CASE("PCD header: older versions, keywords in any case, a field without data, no POINTS") {
  const PcdHeader oldest =
      read_pcd_header("# .PCD v.5\nVERSION .5\nCOLUMNS x y z\nPOINTS 1\nDATA ascii\n1 2 3\n", "a.pcd");
  CHECK(oldest.points == 1);
  CHECK(oldest.point_size == 12);
  const PcdHeader header = read_pcd_header(
      "version 0.7\r\nFields X y _ z\r\nSize 4 4 1 8\r\ntype f F u F\r\nCOUNT 1 1 0 1\r\nRANGE 0 1\r\nWIDTH "
      "2\r\nHEIGHT "
      "3\r\nDATA ASCII\r\n" +
          std::string(36, '0'),
      "a.pcd");
  CHECK(header.points == 6);
  CHECK(header.point_columns == 3);
  CHECK(header.point_size == 16);
  REQUIRE(header.find("z") != nullptr);
  CHECK(header.find("x") != nullptr);
  CHECK(header.find("z")->column == 2);
  CHECK(header.find("z")->offset == 8);
}

TEST_CASE("PCD header: broken ones") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_pcd_header(text, "a.pcd"); }, words);
  };
  const std::string fields = "FIELDS x\nSIZE 4\nTYPE F\n";
  fails("", {"a.pcd", "a line DATA", "the end of the file"});
  fails("hello\n", {"a.pcd:1", "a keyword of a PCD header"});
  fails("FIELDS x\nSIZE 4 4\n", {"a.pcd:2", "1 fields"});
  fails("POINTS 1\nDATA ascii\n0\n", {"a line FIELDS"});
  fails("FIELDS x\nSIZE 3\nTYPE F\nPOINTS 1\nDATA ascii\n0\n", {"\"x\"", "SIZE 3"});
  fails("FIELDS x\nSIZE 2\nTYPE F\nPOINTS 1\nDATA ascii\n0\n", {"SIZE 2"});
  fails("FIELDS x\nSIZE 4\nTYPE Q\nPOINTS 1\nDATA ascii\n0\n", {"TYPE 'Q'"});
  fails("FIELDS x\nSIZE 4\nTYPE F\nCOUNT -1\nPOINTS 1\nDATA ascii\n0\n", {"COUNT -1"});
  fails("FIELDS x\nSIZE 4\nTYPE F\nCOUNT 0\nPOINTS 1\nDATA ascii\n0\n", {"COUNT of 1 or more"});
  fails(fields + "POINTS 1\nDATA morse\n", {"a.pcd:5", "DATA ascii", "morse"});
  fails(fields + "POINTS 0\nDATA ascii\n", {"0 points"});
  fails(fields + "POINTS 9000000000000000000\nDATA binary\n0000", {"4 bytes", "9000000000000000000 points"});
  fails(fields + "WIDTH 2\nHEIGHT 2\nPOINTS 3\nDATA ascii\n0\n0\n0\n", {"2 x 2 and 3"});
}

}  // namespace geosft::test::test_pcd_header
