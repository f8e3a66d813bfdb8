// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/input_cloud.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "tests/support.h"

namespace geosft::test::test_input_cloud {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

at::Tensor random_rows(int64_t count, uint64_t seed, at::ScalarType type = at::kFloat) {
  return at::randn({count, 3}, generator(seed), type);
}

at::Tensor unit_rows(int64_t count, uint64_t seed) {
  const at::Tensor rows = random_rows(count, seed);
  return rows / rows.norm(2, 1, true);
}

Shape cloud_of(const at::Tensor& points, const at::Tensor& normals) {
  std::vector<std::string> warnings;
  const Shape shape = input_cloud(points, normals, warnings);
  CHECK(warnings.empty());
  return shape;
}

}  // namespace

TEST_CASE("float32 coordinates that are coarse far from the origin are a warning in memory, too") {
  const at::Tensor points =
      at::tensor({694386.5, 5155487.0, 2.0, 694386.5, 5155487.5, 2.0, 694387.0, 5155488.0, 2.0}).view({3, 3});
  std::vector<std::string> warnings;
  input_cloud(points.to(at::kFloat), {}, warnings);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0],
             Catch::Contains("the cloud: ") && Catch::Contains("steps of 0.5") && Catch::Contains("float64"));
  cloud_of(points + 0.1, {});
}

TEST_CASE("a cloud in memory is a copy in single precision, with normals or without") {
  const at::Tensor both = at::cat({random_rows(9, 1, at::kDouble), unit_rows(9, 2).to(at::kDouble)}, 1);
  const Shape plain = cloud_of(both.slice(1, 0, 3), {});
  CHECK_FALSE(plain.normals.defined());
  CHECK(plain.points.is_contiguous());
  require_equal(plain.points, both.slice(1, 0, 3).to(at::kFloat), "points");
  const Shape shape = cloud_of(both.slice(1, 0, 3), both.slice(1, 3, 6));
  require_equal(shape.normals, both.slice(1, 3, 6).to(at::kFloat), "normals");
}

TEST_CASE("normals get unit length, and those that are not finite are missing") {
  at::Tensor longer = unit_rows(5, 3) * 7;
  longer[1].zero_();
  longer[2][0] = not_a_number;
  const at::Tensor found = cloud_of(random_rows(5, 4), longer).normals;
  require_close(found.norm(2, 1), at::tensor({1.0F, 0.0F, 0.0F, 1.0F, 1.0F}), 1e-6, "lengths");
}

TEST_CASE("a tensor that is no cloud is named, and the finite rows are shown") {
  const at::Tensor points = random_rows(4, 2);
  require_error([&] { cloud_of(points.slice(1, 0, 2), {}); }, {"points", "[4, 2]"});
  require_error([&] { cloud_of(points.to(at::kLong), {}); }, {"points"});
  require_error([&] { cloud_of({}, {}); }, {"points", "none"});
  require_error([&] { cloud_of(points.slice(0, 0, 0), {}); }, {"points", "at least one row"});
  require_error([&] { cloud_of(points * not_a_number, {}); }, {"points", "points.isfinite().all(1)"});
  require_error([&] { cloud_of(points, points.slice(0, 0, 2)); }, {"normals", "[4, 3]", "[2, 3]"});
  require_error([&] { cloud_of(points, points.slice(0, 0, 0)); }, {"normals", "[4, 3]", "[0, 3]"});
}

TEST_CASE("a shape that a caller has made is checked, by its name or as the cloud") {
  const at::Tensor points = random_rows(4, 5), normals = unit_rows(4, 6);
  const auto refused = [](const at::Tensor& rows, const at::Tensor& directions, const std::vector<std::string>& words) {
    Shape shape{.points = rows, .normals = directions, .name = ""};
    std::vector<std::string> all = words;
    all.emplace_back("the cloud: expected");
    require_error([&] { check_cloud(shape); }, all);
    shape.name = "scan 7";
    all.back() = "scan 7: expected";
    require_error([&] { check_cloud(shape); }, all);
  };
  refused({}, {}, {"points", "none"});
  refused(points.slice(0, 0, 0), {}, {"at least one row", "[0, 3]"});
  refused(points.slice(1, 0, 2), {}, {"[n, 3]", "[4, 2]"});
  refused(points.to(at::kLong), {}, {"float32", "Long"});
  refused(points * not_a_number, {}, {"finite", "points.isfinite().all(1)"});
  refused(points, normals.slice(0, 0, 3), {"normals", "[4, 3]", "[3, 3]"});
  refused(points, normals * not_a_number, {"finite normals"});
  Shape shape{.points = points, .normals = normals * 7, .name = ""};
  check_cloud(shape);
  require_close(shape.normals, normals, 1e-6, "normals");
  shape.normals[2][1] = not_a_number;
  repair_cloud(shape);
  require_close(shape.normals.norm(2, 1), at::tensor({1.0F, 1.0F, 0.0F, 1.0F}), 1e-6, "lengths");
}

}  // namespace geosft::test::test_input_cloud
