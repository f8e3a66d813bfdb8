// SPDX-License-Identifier: Apache-2.0
#include "data/formats/point_labels.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_point_labels {
namespace {

FileShape labelled(const std::vector<double>& labels) {
  FileShapeBuilder builder("a.ply", "vertex");
  for (const double label : labels) {
    builder.add_vertex(label, 0, 0);
    builder.add_label(label);
  }
  builder.set_names({"x", "y", "z", "label"});
  return builder.finish();
}

}  // namespace

TEST_CASE("labels: their property is known by its name, and of several the first of a fixed order is taken") {
  for (const char* name : {"label", "Labels", "PART", "class", "Classification", "scalar_Label", "scalar_part"}) {
    INFO(name);
    CHECK(label_column({"x", "y", "z", name}) == size_t{3});
  }
  CHECK_FALSE(label_column({"x", "part_of_speech", "scalar", "scalar_intensity"}).has_value());
  CHECK_FALSE(label_column({}).has_value());
  CHECK(label_column({"classification", "x", "scalar_label", "part"}) == size_t{2});
  CHECK(label_choice_text({"classification", "x", "label"}) == "its labels are those of label, not of classification");
  CHECK(label_choice_text({"x", "label"}).empty());
  CHECK(label_choice_text({"x"}).empty());
}

TEST_CASE("labels: whole numbers and -1, whatever their type; others are named by point") {
  require_equal(point_labels(labelled({0, 3, -1, 1048575}), "a.ply"), at::tensor({0, 3, -1, 1048575}, at::kLong),
                "labels");
  const auto fails = [](double label, const std::string& found) {
    require_error(
        [&] {
          point_labels(labelled({0, label, label}), "a.ply");
        },
        {"a.ply: expected labels that are whole numbers", "found " + found + " at point 2"});
  };
  fails(0.5, "0.5");
  fails(-2, "-2");
  fails(1048576, "1048576");
  fails(4294967294.0, "4294967294");
}

TEST_CASE("labels: NaN and the -1 of unsigned types are points without one") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  require_equal(point_labels(labelled({3, nan, -1, 4294967295.0, 18446744073709551615.0}), "a.pcd"),
                at::tensor({3, -1, -1, -1, -1}, at::kLong), "labels");
}

TEST_CASE("labels: a word is no number, and a file without labels tells what it has") {
  FileShape shape = labelled({0, 1});
  shape.labels = at::full({2}, std::numeric_limits<double>::infinity(), at::kDouble);
  require_error([&] { point_labels(shape, "a.txt"); }, {"a.txt", "found no number at point 1"});
  shape.labels.reset();
  shape.names = {"x", "y", "z", "sem_class"};
  require_error([&] { point_labels(shape, "a.txt"); },
                {"a.txt: expected a label for each point", "scalar_", "found x, y, z, sem_class"});
  shape.names.resize(22, "f");
  require_error([&] { point_labels(shape, "a.txt"); }, {"f, f and 2 more"});
  shape.names.clear();
  require_error([&] { point_labels(shape, "a.txt"); }, {"--columns x,y,z,label"});
}

}  // namespace geosft::test::test_point_labels
