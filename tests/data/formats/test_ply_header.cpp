// SPDX-License-Identifier: Apache-2.0
#include "data/formats/ply_header.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_ply_header {

TEST_CASE("PLY header: elements, properties, size") {
  const std::string head =
      "ply\r\nformat binary_big_endian 1.0\r\ncomment # made by hand\r\nelement vertex 2\r\nproperty float x\r\n"
      "property uchar red\r\nelement face 1\r\nproperty list uint8 int32 vertex_indices\r\nend_header\r\n";
  const PlyHeader header = read_ply_header(head + "123456789", "a.ply");
  CHECK(header.encoding == PlyEncoding::big_endian);
  CHECK(header.size == head.size());
  CHECK(header.line_count == 9);
  REQUIRE(header.elements.size() == 2);
  CHECK(header.elements[0].count == 2);
  REQUIRE(header.elements[0].properties.size() == 2);
  CHECK(header.elements[0].properties[1].type == PlyType::uint8);
  CHECK(header.elements[1].properties[0].is_list);
  CHECK(header.elements[1].properties[0].length_type == PlyType::uint8);
  CHECK(header.elements[1].properties[0].type == PlyType::int32);
}

TEST_CASE("PLY header: both names of each type") {
  const std::vector<std::pair<std::vector<std::string>, PlyType>> types = {
      {{"char", "int8"}, PlyType::int8},        {{"uchar", "uint8"}, PlyType::uint8},
      {{"short", "int16"}, PlyType::int16},     {{"ushort", "uint16"}, PlyType::uint16},
      {{"int", "int32"}, PlyType::int32},       {{"uint", "uint32"}, PlyType::uint32},
      {{"float", "float32"}, PlyType::float32}, {{"double", "float64"}, PlyType::float64}};
  for (const auto& [names, type] : types) {
    for (const std::string& name : names) {
      INFO(name);
      const std::string head = "ply\nformat ascii 1.0\nelement vertex 1\nproperty " + name + " x\nproperty list " +
                               name + " " + name + " y\nend_header\n0 0\n";
      const PlyHeader header = read_ply_header(head, "a.ply");
      REQUIRE(header.elements.at(0).properties.size() == 2);
      const PlyProperty &x = header.elements[0].properties[0], &y = header.elements[0].properties[1];
      CHECK((x.type == type && !x.is_list));
      CHECK((y.type == type && y.length_type == type && y.is_list));
    }
  }
}

TEST_CASE("PLY header: keywords in any case, a byte-order mark, any line ends") {
  for (const std::string end : {"\n", "\r\n", "\r", " \n"}) {
    const std::string head = "\xEF\xBB\xBFPLY" + end + "Format  ASCII 1.0" + end + "Element\tVertex 1" + end +
                             "Property FLOAT X" + end + "property LIST uchar INT Rest" + end + "END_HEADER" + end;
    const PlyHeader header = read_ply_header(head + "0 0\n", "a.ply");
    CHECK(header.size == head.size());
    CHECK(header.elements.at(0).name == "vertex");
    CHECK(header.elements[0].properties.at(0).name == "x");
    CHECK(header.elements[0].properties.at(1).is_list);
  }
}

TEST_CASE("PLY header: broken ones") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_ply_header(text, "a.ply"); }, words);
  };
  fails("", {"a.ply", "\"ply\""});
  fails("plyx\n", {"a.ply:1", "\"ply\""});
  fails("ply\nformat ascii 1.0\n", {"end_header", "the end of the file"});
  fails("ply\nend_header\n", {"a line \"format\""});
  fails("ply\nformat morse 1.0\n", {"a.ply:2", "morse"});
  fails("ply\nformat ascii 1.0\nproperty float x\n", {"a.ply:3", "an element before"});
  fails("ply\nformat ascii 1.0\nelement vertex many\n", {"a.ply:3", "number of elements", "many"});
  fails("ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\n", {"a.ply:4", "a type of PLY", "quad"});
  fails("ply\nformat ascii 1.0\nelement vertex 1\nproperty float\n", {"a.ply:4", "the name"});
  fails("ply\nformat ascii 1.0\nhello\n", {"a.ply:3", "hello"});
  const std::string begin = "ply\nformat ascii 1.0\nelement vertex ", end = "\nproperty float x\nend_header\n0\n";
  fails(begin + "-1" + end, {"elements \"vertex\"", "-1"});
  fails(begin + "1000000000000" + end, {"elements \"vertex\"", "2 bytes", "1000000000000"});
  fails("ply\nformat ascii 1.0\nelement vertex 1\nend_header\n0\n", {"with properties", "0 properties"});
}

}  // namespace geosft::test::test_ply_header
