// SPDX-License-Identifier: Apache-2.0
#include "geometry/cloud_warnings.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "tests/support.h"

namespace geosft::test::test_cloud_warnings {
namespace {

std::string of_points(const at::Tensor& points) {
  const std::vector<std::string> found = point_warnings(points);
  REQUIRE(found.size() <= 1);
  return found.empty() ? "" : found.front();
}

std::string of_normals(const at::Tensor& points, const at::Tensor& normals) {
  const std::vector<std::string> found = normal_warnings(points, normals);
  REQUIRE(found.size() <= 1);
  return found.empty() ? "" : found.front();
}

// Points on the unit sphere, which are its normals, too.
at::Tensor sphere(int64_t points, uint64_t seed) {
  const at::Tensor direction = at::randn({points, 3}, generator(seed)).to(at::kDouble);
  return direction / direction.norm(2, 1, true);
}

// Points on the faces of a cube, and the normals of these.
std::pair<at::Tensor, at::Tensor> cube(int64_t points, uint64_t seed) {
  const at::Tensor face = at::randperm(points, generator(seed), at::kLong) % 6;
  const at::Tensor axes = at::eye(3, at::kDouble), outward = at::cat({axes, -axes}).index_select(0, face);
  const at::Tensor places = 2 * at::rand({points, 3}, generator(seed + 1)).to(at::kDouble) - 1;
  return {places * (1 - outward.abs()) + outward, outward};
}

// Each normal turned by an angle, in degrees, about an axis of its own.
at::Tensor tilted(const at::Tensor& normals, double angle, uint64_t seed) {
  const at::Tensor beside = at::linalg_cross(normals, sphere(normals.size(0), seed));
  const double radians = angle * std::acos(-1.0) / 180;
  return std::cos(radians) * normals + std::sin(radians) * beside / beside.norm(2, 1, true);
}

// The rows in another order.
at::Tensor shuffled(const at::Tensor& rows, uint64_t seed) {
  return rows.index_select(0, at::randperm(rows.size(0), generator(seed), at::kLong));
}

}  // namespace

TEST_CASE("point_warnings tells equal points and points on one line or in one plane from others") {
  const at::Tensor place = at::arange(20, at::kDouble).unsqueeze(1);
  const at::Tensor line = place * at::tensor({1.0, 2.0, 3.0}) + 5;
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    CHECK(of_points(at::full({20, 3}, 0.3).to(type)) == "all of its 20 points are equal");
    CHECK(of_points(line.to(type)) == "all of its 20 points lie on one line");
    const at::Tensor beside = at::tensor({9.0, 0.0, 0.0}).unsqueeze(0);
    CHECK(of_points(at::cat({line, beside}).to(type)) == "all of its 21 points lie in one plane");
    CHECK(of_points(at::cat({line, beside, -beside}).to(type)).empty());
    CHECK(of_points(at::cat({line.slice(0, 0, 2), beside}).to(type)).empty());  // three points are always in one
    CHECK(of_points(at::zeros({1, 3}, type)).empty());
    CHECK(of_points(at::zeros({0, 3}, type)).empty());
  }
  // Squares of such coordinates are beyond float64.
  const at::Tensor ball = at::randn({20, 3}, generator(1), at::kDouble), sheet = ball * at::tensor({1.0, 1.0, 0.0});
  for (const double unit : {1e200, 1e-200}) {
    CHECK(of_points(unit * ball).empty());
    CHECK(of_points(unit * sheet) == "all of its 20 points lie in one plane");
    CHECK(of_points(unit * line) == "all of its 20 points lie on one line");
  }
  // The tolerance is 1e-5 of the largest distance from the first point.
  at::Tensor bent = place * at::tensor({1.0, 0.0, 0.0});
  bent[10][1] = 0.9e-5 * 19;
  CHECK(of_points(bent) == "all of its 20 points lie on one line");
  bent[10][1] = 1.1e-5 * 19;
  CHECK(of_points(bent) == "all of its 20 points lie in one plane");
  // So it is beside a plane: here at most 1e-5 of sqrt(2) * 0.98, of the plane through the two farthest points.
  const at::Tensor square = at::rand({400, 2}, generator(9)).to(at::kDouble) * 0.9 + 0.05;
  const at::Tensor corners = at::tensor({0.01, 0.01, 0.99, 0.99, 0.99, 0.01}).to(at::kDouble).view({3, 2});
  at::Tensor flat = at::cat({at::cat({corners, square}), at::full({403, 1}, 2.0, at::kDouble)}, 1);
  const double largest = 0.98 * std::sqrt(2.0);
  flat[100][2] = 2.0 + 0.9e-5 * largest;
  CHECK(of_points(flat) == "all of its 403 points lie in one plane");
  flat[100][2] = 2.0 + 1.1e-5 * largest;
  CHECK(of_points(flat).empty());
  // Turned, far from the origin and rounded to float32, it is still flat.
  flat[100][2] = 2.0;
  const at::Tensor turn = at::tensor({0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6}).to(at::kDouble).view({3, 3});
  CHECK(of_points((at::matmul(flat, turn) + 4).to(at::kFloat)) == "all of its 403 points lie in one plane");
}

TEST_CASE("point_warnings counts the points of the most common place") {
  const at::Tensor cloud = sphere(1000, 1);
  const auto repeated = [&](int64_t times, const at::Tensor& place) {
    at::Tensor points = cloud.clone();
    points.index_put_({at::randperm(1000, generator(2), at::kLong).slice(0, 0, times)}, place);
    return of_points(points);
  };
  const at::Tensor origin = at::zeros({3}, at::kDouble);
  CHECK(repeated(16, origin).empty());  // more than 16, and more than 1 %
  CHECK(
      repeated(17, origin) ==
      "17 of its 1000 points are at one place, (0, 0, 0): leave them out if they stand for what a sensor did not see");
  CHECK_THAT(repeated(200, sphere(1, 6)[0]), Catch::StartsWith("200 of its 1000 points are at one place: "));
  CHECK_THAT(of_points(at::cat({sphere(3000, 3), at::zeros({30, 3}, at::kDouble)})), Catch::Equals(""));
  // 0 and -0 are one place, and the places of many pairs are not.
  const at::Tensor signs = at::cat({at::zeros({10, 3}, at::kDouble), -at::zeros({10, 3}, at::kDouble)});
  CHECK_THAT(of_points(at::cat({cloud, signs})),
             Catch::StartsWith("20 of its 1020 points are at one place, (0, 0, 0)"));
  CHECK(of_points(at::cat({cloud, cloud})).empty());
}

TEST_CASE("point_warnings finds stray points, which set the scale") {
  const at::Tensor cloud = sphere(997, 4) + 100;
  const auto with_stray = [&](double factor) {
    const at::Tensor far = factor * at::eye(3, at::kDouble) + 100;
    return of_points(at::cat({cloud, far}));
  };
  CHECK(of_points(cloud).empty());
  // The middle of a sphere of 997 points is its centre to about 0.1.
  CHECK(with_stray(1.9).empty());
  CHECK_THAT(with_stray(12.0), Catch::StartsWith("3 of its 1000 points lie apart from the others, up to 1") &&
                                   Catch::Contains("times as far from the middle as 99 % of them"));
  CHECK_THAT(of_points(at::cat({cloud, at::full({1, 3}, 110.0, at::kDouble)})),
             Catch::StartsWith("1 of its 998 points lies apart from the others"));
  CHECK(of_points(at::cat({cloud.slice(0, 0, 198), at::zeros({1, 3}, at::kDouble)})).empty());  // too few to tell
}

TEST_CASE("normal_warnings tells inward normals from outward ones") {
  const at::Tensor cloud = sphere(1000, 5);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    CHECK(of_normals(cloud.to(type), cloud.to(type)).empty());
    CHECK_THAT(of_normals(cloud.to(type), -cloud.to(type)),
               Catch::StartsWith("its normals point inward on the whole, 100 % of them, and may mislead") &&
                   Catch::Contains("--estimated-normals"));
  }
  const at::Tensor third = at::where(at::randperm(1000, generator(7), at::kLong).unsqueeze(1) < 330, -cloud, cloud);
  CHECK(of_normals(cloud, third).empty());
  CHECK_THAT(of_normals(cloud, -third), Catch::StartsWith("its normals point inward on the whole, 6"));
  // A plane has no inside, and its products are rounding.
  const at::Tensor plane = at::rand({500, 3}, generator(8)).to(at::kDouble) * at::tensor({1.0, 1.0, 0.0}) + 0.3;
  const at::Tensor up = at::tensor({0.0, 0.0, 1.0}).to(at::kDouble).expand_as(plane);
  CHECK(of_normals(plane, up).empty());
  CHECK(of_normals(plane, -up).empty());
  // Missing ones, as 0 or NaN, and one point.
  CHECK(of_normals(cloud, at::zeros_like(cloud)).empty());
  at::Tensor holes = cloud.clone();
  holes[7][1] = NAN;
  CHECK(of_normals(cloud, holes).empty());
  CHECK_THAT(of_normals(cloud, -holes), Catch::StartsWith("its normals point inward on the whole, "));
  CHECK(of_normals(cloud.slice(0, 0, 1), -cloud.slice(0, 0, 1)).empty());
}

TEST_CASE("normal_warnings tells normals that do not fit the points, of whatever sign") {
  const at::Tensor ball = sphere(1000, 10), up = at::tensor({0.0, 0.0, 1.0}).to(at::kDouble).expand_as(ball);
  const at::Tensor quarter = at::tensor({0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0}).to(at::kDouble).view({3, 3});
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const auto& [points, normals] : {std::pair(ball, ball), cube(1000, 11)}) {
      const auto fault = [type, cloud = points.to(type)](const at::Tensor& given) {
        return normal_fault(cloud, given.to(type));
      };
      CHECK(fault(normals) == NormalFault::none);
      CHECK(fault(-normals) == NormalFault::inward);
      CHECK(fault(tilted(normals, 20, 13)) == NormalFault::none);
      CHECK(fault(shuffled(normals, 14)) == NormalFault::misfit);
      CHECK(fault(up) == NormalFault::misfit);
      CHECK(fault(normals.matmul(quarter)) == NormalFault::misfit);
      CHECK(fault(tilted(normals, 60, 15)) == NormalFault::misfit);
      CHECK_THAT(of_normals(points.to(type), tilted(normals, 60, 15).to(type)),
                 Catch::StartsWith("its normals do not fit its points: half of them are at least ") &&
                     Catch::EndsWith(" degrees off (predict --estimated-normals, or a call without normals, does not "
                                     "use them)"));
    }
  }
  // That they also point inward is not said.
  const at::Tensor poles = at::cat({at::zeros({1000, 2}, at::kDouble), -ball.slice(1, 2).sign()}, 1);
  CHECK(normal_fault(ball, poles) == NormalFault::misfit);
  CHECK_THAT(of_normals(ball, poles), !Catch::Contains("inward"));
  CHECK(normal_fault(ball, poles, /*check_misfit=*/false) == NormalFault::inward);
  CHECK(normal_fault(ball, up, /*check_misfit=*/false) == NormalFault::none);
  CHECK(normal_warnings(ball, up, /*check_misfit=*/false).empty());
  // The size of the cloud does not count.
  for (const double scale : {1e-200, 1e200})
    CHECK(normal_fault(scale * ball, shuffled(ball, 14)) == NormalFault::misfit);
}

TEST_CASE("normals that are missing, few, or of points without a surface are not said to misfit") {
  const at::Tensor ball = sphere(1000, 16), other = shuffled(ball, 17);
  at::Tensor partial = ball.clone();
  partial.slice(0, 0, 300).fill_(NAN);
  partial.slice(0, 300, 600).zero_();
  CHECK(normal_fault(ball, partial) == NormalFault::none);
  at::Tensor few = other.clone();
  few.slice(0, 0, 800).fill_(NAN);
  CHECK(normal_fault(ball, few) == NormalFault::misfit);  // 200 of them
  few[800].zero_();
  CHECK(normal_fault(ball, few) == NormalFault::none);
  CHECK(normal_fault(sphere(199, 18), sphere(199, 19)) == NormalFault::none);
  CHECK(normal_fault(sphere(200, 18), sphere(200, 19)) == NormalFault::misfit);
  // A volume, a line, one place, and few places.
  const at::Tensor volume = at::randn({1000, 3}, generator(20)).to(at::kDouble);
  CHECK(normal_fault(volume, ball) == NormalFault::none);
  CHECK(normal_fault(volume.slice(1, 0, 1) * at::tensor({1.0, 2.0, 3.0}), ball) == NormalFault::none);
  CHECK(normal_fault(at::full({1000, 3}, 0.3, at::kDouble), ball) == NormalFault::none);
  CHECK(normal_fault(sphere(50, 21).repeat({20, 1}), ball) == NormalFault::none);
  // A plane is a surface.
  const at::Tensor plane = volume * at::tensor({1.0, 1.0, 0.0});
  CHECK(normal_fault(plane, at::tensor({1.0, 0.0, 0.0}).to(at::kDouble).expand_as(plane)) == NormalFault::misfit);
}

TEST_CASE("clouds that warnings cannot be found in are refused by name") {
  require_error([] { point_warnings(at::zeros({3})); }, {"points", "[3]"});
  require_error([] { point_warnings(at::zeros({4, 3}, at::kLong)); }, {"points"});
  const at::Tensor broken = at::rand({300, 3}, generator(9));
  broken[7][1] = NAN;
  require_error([&] { point_warnings(broken); }, {"points must be finite", "row 7"});
  require_error([&] { normal_warnings(broken, broken); }, {"points must be finite", "row 7"});
  require_error([] { normal_warnings(at::zeros({4, 3}), at::zeros({4, 2})); }, {"normals", "[4, 2]"});
  require_error([] { normal_warnings(at::zeros({4, 3}), at::zeros({5, 3})); }, {"normals", "[5, 3]"});
}

}  // namespace geosft::test::test_cloud_warnings
