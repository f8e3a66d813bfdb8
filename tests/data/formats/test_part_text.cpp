// SPDX-License-Identifier: Apache-2.0
#include "data/formats/part_text.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_part_text {

TEST_CASE("labelled points: seven columns, in their order") {
  const Shape shape = read_labelled_points("1 2 3 0 0 1 12.000000\n4 5 6 0 2 0 15\n", "chair.txt");
  require_equal(shape.points, at::tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}).view({2, 3}), "points");
  require_equal(shape.normals, at::tensor({0.0f, 0.0f, 1.0f, 0.0f, 1.0f, 0.0f}).view({2, 3}), "unit normals");
  require_equal(shape.parts, at::tensor({12, 15}, at::kLong), "parts");
  CHECK(shape.name == "chair.txt");
}

TEST_CASE("labelled points: broken files are named with the line") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    require_error([&] { read_labelled_points(text, "chair.txt"); }, words);
  };
  fails("", {"chair.txt"});
  fails("1 2 3 0 0 1 0\n1 2 3 0 0 1\n", {"chair.txt", "2", "number of a part"});
  fails("1 2 3 0 0 1 0 9\n", {"chair.txt", "1", "9"});
  fails("1 2 x 0 0 1 0\n", {"1", "x"});
  fails("1 2 3 0 0 1 0.5\n", {"1", "the number of a part", "0.5"});
  fails("1 2 3 0 0 1 0\n1 2 3 0 0 1 -2\n", {"2", "the number of a part, or -1 without a label", "-2"});
  fails("1 2 3 0 0 1 -0.5\n", {"1", "the number of a part", "-0.5"});
  fails("1 2 nan 0 0 1 0\n", {"1", "nan"});
}

TEST_CASE("labelled points: -1 is a point without a label") {
  const Shape shape = read_labelled_points("1 2 3 0 0 1 -1\n4 5 6 0 2 0 0\n7 8 9 0 2 0 -1.000000\n", "chair.txt");
  CHECK(shape.points.size(0) == 3);
  require_equal(shape.parts, at::tensor({-1, 0, -1}, at::kLong), "parts");
  require_equal(read_point_labels("1\n-1\n2\n", 3, "a.seg"), at::tensor({1, -1, 2}, at::kLong), "labels");
  require_error([] { read_point_labels("1\n-2\n", 2, "a.seg"); }, {"a.seg", "2", "-2"});
}

TEST_CASE("labels of points: an integer a line for every point") {
  require_equal(read_point_labels("1\n3\n2\n", 3, "a.seg"), at::tensor({1, 3, 2}, at::kLong), "labels");
  require_error([] { read_point_labels("1\n2\n", 3, "a.seg"); }, {"a.seg", "3 points", "2"});
  require_error([] { read_point_labels("1\ntwo\n", 2, "a.seg"); }, {"a.seg", "2", "two"});
  require_error([] { read_point_labels("1\n2 3\n", 2, "a.seg"); }, {"a.seg", "2", "3"});
}

}  // namespace geosft::test::test_part_text
