// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_off {

TEST_CASE("OFF: all first lines, ModelNet's broken one included") {
  const std::string body = "0 0 0\n1 0 0\n\n# comment\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n";
  for (const std::string head :
       {"OFF\n4 1 0\n", "OFF 4 1 0\n", "OFF4 1 0\n", "OFF\r\n4 1 0\r\n", "# c\nOFF\n# c\n4 1 0\n", "COFF\n4 1\n",
        "off\n4 1 0\n", "Off 4 1 0\n", "coff4 1 0\n", "\xEF\xBB\xBFOFF\n4\n1\n0\n", "OFF\n4 1\n0\n"}) {
    CAPTURE(head);
    const FileShape shape = read_off(head + body, "a.off");
    CHECK(shape.mesh.vertices.size(0) == 4);
    test::require_equal(shape.mesh.faces, at::tensor({0, 1, 2, 0, 2, 3}, at::kLong).view({2, 3}), "faces");
  }
}

TEST_CASE("OFF: vertices with texture, colour and normal, in each combination") {
  for (const std::string prefix : {"", "ST", "C", "N", "STC", "STN", "CN", "STCN"}) {
    const auto has = [&](const char* what) { return prefix.find(what) != std::string::npos; };
    // What follows the coordinates: a normal, a colour, a place in a texture.
    std::string more;
    if (has("N")) more += " 0 0 1";
    if (has("C")) more += " 0.1 0.2 0.3 1";
    if (has("ST")) more += " 0.25 0.75";
    const std::string body = "0 0 0" + more + "\n1 0 0" + more + "\n1 1 -2" + more + "\n3 2 0 1\n";
    for (const std::string& head : {prefix + "OFF\n3 1 0\n", prefix + "OFF 3 1 0\n", prefix + "OFF3 1 0\n"}) {
      CAPTURE(head);
      const FileShape shape = read_off(head + body, "a.off");
      test::require_equal(shape.mesh.vertices, at::tensor({0, 0, 0, 1, 0, 0, 1, 1, -2}).view({3, 3}).to(at::kDouble),
                          "vertices");
      test::require_equal(shape.mesh.faces, at::tensor({2, 0, 1}, at::kLong).view({1, 3}), "faces");
    }
  }
  // 4 and n give vertices other coordinates, and the letters have one order.
  for (const std::string prefix :
       {"4", "n", "4n", "ST4", "S", "T", "TS", "CST", "NC", "NST", "CNST", "STNC", "CC", "X", "st"}) {
    CAPTURE(prefix);
    test::require_error([&] { read_off(prefix + "OFF\n3 1 0\n0 0 0\n1 0 0\n1 1 0\n3 0 1 2\n", "a.off"); },
                        {"a.off:1", "begins with OFF", prefix + "OFF"});
  }
}

TEST_CASE("OFF: line breaks anywhere, if there are fewer lines than vertices and faces") {
  for (const std::string text :
       {"OFF 3 1 0 0 0 0 1 0 0 1 1 -2 3 2 0 1", "OFF\n3 1 0\n0 0 0 1 0 0\n1 1 -2\n3 2 0 1 255 0 0\n",
        "OFF\n3\n1\n0\n0 0 0 1 0\n0 1 1 -2 3 2\n0 1\n", "OFF\r3 1 0\r0 0 0\r1 0 0\r1 1 -2\r3 2 0 1\r"}) {
    CAPTURE(text);
    const FileShape shape = read_off(text, "a.off");
    test::require_equal(shape.mesh.vertices, at::tensor({0, 0, 0, 1, 0, 0, 1, 1, -2}).view({3, 3}).to(at::kDouble),
                        "vertices");
    test::require_equal(shape.mesh.faces, at::tensor({2, 0, 1}, at::kLong).view({1, 3}), "faces");
  }
}

TEST_CASE("OFF: no faces, faces without area, unused vertices, trailing bytes") {
  const std::string vertices = "0 0 0\n1 0 0\n1 1 0\n";
  CHECK_FALSE(read_off("OFF\n3 0 0\n" + vertices, "a.off").is_mesh());
  const FileShape shape = read_off("OFF\n4 4 0\n" + vertices + "nan 0 0\n0\n1 2\n2 0 1\n3 0 1 2\nmore\n", "a.off");
  CHECK(shape.mesh.faces.size(0) == 1);
  REQUIRE(shape.warnings.size() == 2);
  CHECK(shape.warnings[0] == "3 faces of fewer than 3 corners are ignored");
}

TEST_CASE("OFF: broken files") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    test::require_error([&] { read_off(text, "a.off"); }, words);
  };
  const std::string vertices = "0 0 0\n1 0 0\n1 1 0\n";
  fails("", {"a.off", "an empty file"});
  fails("ply\n", {"a.off:1", "begins with OFF", "ply"});
  fails("OFF", {"a.off", "number of vertices", "the end of the file"});
  fails("OFF BINARY\n", {"a.off", "binary"});
  fails("OFF\n3 x 0\n", {"a.off:2", "number of faces", "x"});
  fails("OFF\n-3 1 0\n" + vertices, {"numbers of vertices and faces", "-3"});
  fails("OFF\n4000000000000 1 0\n" + vertices, {"numbers of vertices and faces", "4000000000000"});
  fails("OFF\n3 1 0\n0 0 0\n1 0 0\n", {"3 vertices", "only 2"});
  fails("OFF\n3 2 0\n" + vertices + "3 0 1 2\n", {"2 faces", "only 1"});
  fails("OFF\n3 1 0\n" + vertices + "3 0 1\n", {"a.off:6", "number of a vertex", "the end of the line"});
  fails("OFF\n3 1 0\n" + vertices + "3 0 1 3\n", {"3 vertices", "line 6"});
  fails("OFF\n3 1 0\n" + vertices + "9000000000000000000 0 1 2\n", {"a.off:6"});
  fails("OFF\n3 1 0\n0 0 0\n1 inf 0\n1 1 0\n3 0 1 2\n", {"a.off:4", "finite", "inf"});
  fails("OFF\n3 1 0\n0 0 0 1 0\n0 1 1 0 3 0 1\n", {"a.off:4", "number of a vertex", "the end of the file"});
}

}  // namespace geosft::test::test_off
