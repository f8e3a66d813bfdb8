// SPDX-License-Identifier: Apache-2.0
#include "data/points/array_dataset.h"

#include <catch2/catch.hpp>
#include <iomanip>
#include <limits>
#include <sstream>

#include "tests/data/files.h"
#include "tests/data/points/utm_chair.h"
#include "tests/support.h"

namespace geosft::test::test_array_dataset {

namespace {

CloudArrays example() {
  CloudArrays arrays;
  arrays.points = at::randn({2, 4, 3}, test::generator(1));
  arrays.normals = at::randn({2, 4, 3}, test::generator(2));
  arrays.labels = at::tensor({1, 0}, at::kLong);
  arrays.names = {"a", "b"};
  return arrays;
}

void require_refused(const CloudArrays& arrays, const std::vector<std::string>& words) {
  test::require_error([&] { ArrayDataset(arrays, {"x", "y"}, "f.h5"); }, words);
}

}  // namespace

TEST_CASE("an array dataset hands out its clouds") {
  const CloudArrays arrays = example();
  const ArrayDataset dataset(arrays, {"x", "y"}, "f.h5");
  CHECK(dataset.size() == 2);
  CHECK(dataset.has_normals());
  const Shape shape = dataset.get(1);
  test::require_equal(shape.points, arrays.points[1], "points");
  test::require_close(shape.normals, arrays.normals[1] / arrays.normals[1].norm(2, 1, true), 1e-6, "unit normals");
  CHECK(shape.label == 0);
  CHECK(dataset.label(0) == 1);
  CHECK(shape.name == "b");
  CHECK_THROWS_AS(dataset.get(2), std::out_of_range);
  CHECK_THROWS_AS(dataset.label(-1), std::out_of_range);
}

TEST_CASE("normals of length 0 are none: a cloud of them has no normals, and some are estimated") {
  CloudArrays arrays = example();
  arrays.points = at::randn({3, 400, 3}, test::generator(1));
  arrays.points = arrays.points / arrays.points.norm(2, 2, true);  // of a ball, whose normals they are
  arrays.normals = arrays.points * 2;
  arrays.labels = at::tensor({1, 0, 1}, at::kLong);
  arrays.names = {"a", "b", "c"};
  arrays.normals[0].zero_();
  arrays.normals[1].slice(0, 0, 5).zero_();
  const ArrayDataset dataset(arrays, {"x", "y"}, "f.h5");
  CHECK_FALSE(dataset.has_normals());
  CHECK_FALSE(dataset.get(0).normals.defined());
  const at::Tensor some = dataset.get(1).normals;
  test::require_close(some.slice(0, 5), arrays.points[1].slice(0, 5), 1e-6, "its own");
  CHECK((some * arrays.points[1]).sum(1).min().item<double>() > 0.5);  // outward, as its others
  test::require_close(dataset.get(2).normals, arrays.points[2], 1e-6, "all its own");
  REQUIRE(dataset.warnings().size() == 1);
  CHECK_THAT(dataset.warnings()[0], Catch::StartsWith("f.h5: b: 5 of its 400 points have no normals"));

  arrays.normals.zero_();
  const ArrayDataset without(arrays, {"x", "y"}, "f.h5");
  CHECK_FALSE(without.has_normals());
  CHECK_FALSE(without.get(2).normals.defined());
  CHECK(without.warnings().empty());
}

TEST_CASE("normals of points that are left out count for nothing") {
  CloudArrays arrays = example();
  arrays.points = at::randn({2, 40, 3}, test::generator(1));
  arrays.normals = at::zeros({2, 40, 3});
  arrays.normals.select(1, 0).fill_(1.0);
  arrays.keep = at::ones({2, 40}, at::kBool);
  arrays.keep.select(0, 0).select(0, 0).fill_(false);
  const ArrayDataset dataset(arrays, {"x", "y"}, "f.h5");
  CHECK_FALSE(dataset.get(0).normals.defined());
  CHECK(dataset.get(1).normals.norm(2, 1).min().item<double>() > 0.99);
}

TEST_CASE("points that are not kept are left out") {
  CloudArrays arrays = example();
  arrays.keep = at::tensor({1, 0, 1, 1, 0, 0, 0, 1}).view({2, 4}) != 0;
  const ArrayDataset dataset(arrays, {"x", "y"}, "f.h5");
  CHECK(dataset.get(0).points.size(0) == 3);
  test::require_equal(dataset.get(1).points, arrays.points[1].slice(0, 3, 4), "the one point");
  CHECK(dataset.get(1).normals.size(0) == 1);
}

TEST_CASE("clouds in double that are far from the origin are centred before they become float32") {
  CloudArrays arrays = example();
  set_clouds(arrays, at::stack({chair_points(4), utm_chair(4)}));
  const ArrayDataset dataset(arrays, {"x", "y"}, "f.h5");
  CHECK_FALSE(dataset.get(0).offset.defined());
  require_equal(dataset.get(0).points, chair_points(4).to(at::kFloat), "near the origin");
  REQUIRE(dataset.get(1).offset.defined());
  require_close(file_coordinates(dataset.get(1)) - utm_offset(), chair_at_origin(4), 1e-7, "far from it");
  set_clouds(arrays, at::ones({2, 4, 3}));
  require_equal(arrays.points, at::ones({2, 4, 3}), "float32");
  set_clouds(arrays, at::ones({2, 4}, at::kDouble));
  require_refused(arrays, {"[N, P, 3]", "[2, 4]"});
}

TEST_CASE("clouds in float32 that are coarse far from the origin are a warning") {
  CloudArrays arrays = example();
  const at::Tensor coarse = at::tensor({694386.5, 5155487.0, 2.0, 694386.5, 5155487.5, 2.0, 694387.0, 5155488.0, 2.0,
                                        694386.0, 5155487.0, 2.0})
                                .view({4, 3});
  set_clouds(arrays, at::stack({coarse, coarse}).to(at::kFloat));
  const std::vector<std::string> found = ArrayDataset(arrays, {"x", "y"}, "f.h5").warnings();
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::StartsWith("f.h5: ") && Catch::Contains("steps of 0.5") &&
                           Catch::EndsWith("; 1 more has the like"));
  set_clouds(arrays, at::stack({coarse, coarse}) + 0.1);  // float64 holds them
  CHECK(ArrayDataset(arrays, {"x", "y"}, "f.h5").warnings().empty());
}

TEST_CASE("normals of an array and of a file have the same bits") {
  const at::Tensor rows = at::randn({200, 6}, generator(21));  // of any length
  CloudArrays arrays;
  set_clouds(arrays, rows.slice(1, 0, 3).unsqueeze(0).contiguous());
  arrays.normals = rows.slice(1, 3).unsqueeze(0).contiguous();
  arrays.labels = at::zeros({1}, at::kLong);
  arrays.names = {"one"};
  std::ostringstream text;
  text << std::setprecision(9);
  for (int64_t row = 0; row < 200; ++row) {
    for (int64_t column = 0; column < 6; ++column) text << rows[row][column].item<float>() << (column < 5 ? ' ' : '\n');
  }
  const TemporaryFolder folder;
  write_text(folder / "a.xyz", text.str());
  const Shape shape = read_shape(folder / "a.xyz", {.columns = "x,y,z,nx,ny,nz"});
  const Shape held = ArrayDataset(arrays, {"x"}, "f.h5").get(0);
  require_equal(shape.points, held.points, "points");
  require_equal(shape.normals, held.normals, "normals");
}

TEST_CASE("classes without a cloud are a warning") {
  CloudArrays arrays = example();
  warn_of_empty_classes(arrays, {"x", "y"}, "f.h5");
  CHECK(arrays.warnings.empty());
  warn_of_empty_classes(arrays, {"x", "y", "cup", "mug"}, "f.h5");
  const ArrayDataset dataset(arrays, {"x", "y", "cup", "mug"}, "f.h5");
  CHECK(dataset.warnings() == std::vector<std::string>{"f.h5: 2 of 4 classes have no cloud: cup, mug"});
}

TEST_CASE("arrays that do not fit together are refused") {
  CloudArrays arrays = example();
  arrays.points[1][2][0] = std::numeric_limits<float>::quiet_NaN();
  require_refused(arrays, {"f.h5", "finite points", "cloud 1"});
  arrays = example();
  arrays.normals[0][2][0] = std::numeric_limits<float>::infinity();
  require_refused(arrays, {"finite normals", "cloud 0"});
  arrays = example();
  arrays.names = {"one"};
  require_refused(arrays, {"a name for each of the 2 clouds", "1 names"});
  arrays = example();
  arrays.points = at::zeros({2, 4, 2});
  require_refused(arrays, {"[N, P, 3]", "[2, 4, 2]"});
  arrays = example();
  arrays.points = at::zeros({0, 4, 3});
  require_refused(arrays, {"[N, P, 3]", "[0, 4, 3]"});
  arrays = example();
  arrays.normals = at::zeros({2, 5, 3});
  require_refused(arrays, {"normals of shape [2, 4, 3]", "[2, 5, 3]"});
  arrays = example();
  arrays.labels = at::tensor({0, 2}, at::kLong);
  require_refused(arrays, {"labels from 0 to 1 for 2 classes", "label 2 of cloud 1"});
  arrays.labels = at::tensor({0, -1}, at::kLong);
  require_refused(arrays, {"label -1 of cloud 1"});
  arrays.labels = at::tensor({0}, at::kLong);
  require_refused(arrays, {"a label for each of the 2 clouds"});
  arrays = example();
  arrays.keep = at::ones({2, 3}, at::kBool);
  require_refused(arrays, {"a mask for each point", "[2, 3]"});
  arrays.keep = at::tensor({1, 0, 1, 1, 0, 0, 0, 0}).view({2, 4}) != 0;
  require_refused(arrays, {"not background", "cloud 1"});
}

}  // namespace geosft::test::test_array_dataset
