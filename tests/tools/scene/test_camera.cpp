// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/camera.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "tests/support.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_camera {
using namespace view;

TEST_CASE("the eye turns about the vertical axis, then rises") {
  CHECK(towards_eye({0, 0})[2] == Approx(1.0));
  CHECK(towards_eye({90, 0})[0] == Approx(1.0));
  CHECK(towards_eye({17, 90})[1] == Approx(1.0));
  for (const Camera& camera : {Camera{35, 20}, Camera{200, -60}}) {
    const auto eye = towards_eye(camera), up = upwards(camera);
    CHECK(eye[0] * up[0] + eye[1] * up[1] + eye[2] * up[2] == Approx(0.0).margin(1e-12));
    CHECK(up[1] > 0);
  }
}

TEST_CASE("views and sizes are read, or refused with what was expected") {
  const Camera camera = camera_of("-40,15.5,2");
  CHECK(camera.azimuth == -40);
  CHECK(camera.elevation == 15.5);
  CHECK(camera.distance == 2);
  CHECK(camera_of("1,2").distance == 1);
  for (const char* wrong : {"", "1", "1,2,3,4", "a,2", "1,91", "1,2,0", "1,2,nan", "1,2x"}) {
    CHECK_THROWS_AS(camera_of(wrong), UsageError);
  }
  CHECK(size_of("640x480").width == 640);
  CHECK(size_of("640x480").height == 480);
  for (const char* wrong : {"640", "640x", "x480", "640x480x2", "0x10", "99999x100", "64.5x64", "640*480"}) {
    CHECK_THROWS_AS(size_of(wrong), UsageError);
  }
}

TEST_CASE("points are as large as they look, or as they look at most in a turn") {
  const at::Tensor corners =
      at::tensor({4.0, 1.0, 0.0, -2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 1.0, -1.0, -1.0}, at::kDouble).view({4, 3});
  const auto seen = [&](const Camera& camera, bool turning) {
    return seen_box(corners, 0.5, towards_eye(camera), upwards(camera), turning);
  };
  const SeenBox front = seen({0, 0}, false);
  CHECK(front.wide == Approx(3.5));
  CHECK(front.tall == Approx(2.5));
  CHECK(front.deep == Approx(1.5));
  CHECK(front.middle[0] == Approx(1));
  CHECK(front.middle[1] == Approx(1));
  CHECK(front.middle[2] == Approx(0).margin(1e-12));
  CHECK(seen({90, 0}, false).wide == Approx(1.5));
  CHECK(seen({0, 90}, false).tall == Approx(1.5));
  for (double azimuth = 0; azimuth < 360; azimuth += 10) {
    const SeenBox whole = seen({azimuth, 30}, true), still = seen({azimuth, 30}, false);
    CHECK(whole.wide == Approx(3.5));
    CHECK(whole.tall == Approx(seen({0, 30}, true).tall));
    CHECK(whole.wide >= still.wide - 1e-12);
    CHECK(whole.tall >= still.tall - 1e-12);
    CHECK(whole.deep >= still.deep - 1e-12);
  }
}

TEST_CASE("all of a scene is drawn within its room, and no smaller than it must be") {
  // A line that comes towards the eye to the right, and one away from it; with a room left of, above, beside the
  // middle.
  const at::Tensor slanted = at::tensor({-2.0, 0.0, -3.0, 0.0, 0.5, 0.0, 2.0, 1.0, 3.0}, at::kDouble).view({3, 3});
  const PictureSize size{1000, 700};
  const double slope = std::tan(15.0 * std::numbers::pi / 180);
  for (const at::Tensor& points : {slanted, -slanted}) {
    for (const Box& room :
         {Box{0, 0, 1000, 700}, Box{300, 0, 1000, 700}, Box{0, 0, 450, 300}, Box{20, 400, 980, 690}}) {
      for (const bool turning : {false, true}) {
        const Camera camera{25, 10};
        const SeenBox seen = seen_box(points, 0.25, towards_eye(camera), upwards(camera), turning);
        const double reach = reach_in(room, size, seen, 30.0), eye = reach / slope;
        const double pixels = size.height / 2.0 / reach;
        const double right = (room.left + room.right) / 2 - 500, below = (room.top + room.bottom) / 2 - 350;
        double minimum = 1e9;  // pixels to the nearest edge
        for (int64_t i = 0; i < seen.places.size(0); ++i) {
          const double x = seen.places[i][0].item<double>(), y = seen.places[i][1].item<double>();
          const double nearer = eye / (eye - seen.places[i][2].item<double>());
          for (const double side : {-seen.radius, seen.radius}) {
            const double across = 500 + (right + pixels * (x + side)) * nearer;
            const double down = 350 + (below - pixels * (y + side)) * nearer;
            minimum = std::min({minimum, across - room.left, room.right - across, down - room.top, room.bottom - down});
          }
        }
        CHECK(minimum == Approx(0.0).margin(1e-9));
      }
    }
  }
}

TEST_CASE("a balanced scene has equal margins left and right, above and below") {
  const at::Tensor points =
      at::tensor({-2.0, 0.0, -3.0, 0.0, 0.5, 0.0, 2.0, 1.0, 3.0, 1.0, -2.0, 1.0}, at::kDouble).view({4, 3});
  const PictureSize size{1000, 700};
  const Box room{300, 40, 1000, 700};
  for (const double degrees : {30.0, 0.0}) {
    INFO(degrees);
    const Camera camera{25, 10};
    const auto front = towards_eye(camera), up = upwards(camera);
    const SeenBox seen = balanced(seen_box(points, 0.25, front, up, false), front, up, room, size, degrees);
    // The middle is where the places are measured from.
    const at::Tensor middle = at::tensor({seen.middle[0], seen.middle[1], seen.middle[2]}, at::kDouble);
    require_close(seen_box(points - middle, 0.25, front, up, false).places.norm(2, 1).max(),
                  seen_box(points, 0.25, front, up, false).places.norm(2, 1).max(), 1e-9, "rigid");
    const double reach = reach_in(room, size, seen, degrees), pixels = size.height / 2.0 / reach;
    const double slope = std::tan(degrees / 2 * std::numbers::pi / 180);
    double left = 1e9, right = 1e9, top = 1e9, bottom = 1e9;
    for (int64_t i = 0; i < seen.places.size(0); ++i) {
      const double x = seen.places[i][0].item<double>(), y = seen.places[i][1].item<double>();
      const double nearer = 1 / (1 - seen.places[i][2].item<double>() * slope / reach);
      for (const double side : {-seen.radius, seen.radius}) {
        const double across = 500 + (150 + pixels * (x + side)) * nearer,
                     down = 350 + (20 - pixels * (y + side)) * nearer;
        left = std::min(left, across - room.left), right = std::min(right, room.right - across);
        top = std::min(top, down - room.top), bottom = std::min(bottom, room.bottom - down);
      }
    }
    CHECK(left == Approx(right).margin(0.5));
    CHECK(top == Approx(bottom).margin(0.5));
    CHECK(std::min({left, right, top, bottom}) == Approx(0.0).margin(1e-6));
  }
}

TEST_CASE("a click picks the nearest point under it") {
  // Seen along -z from the origin, as OpenGL does from 0.1 to 100: w is the depth, and depth 1 spans 100 pixels.
  const at::Tensor projection =
      at::tensor({1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.002, -0.2, 0.0, 0.0, -1.0, 0.0}).view({4, 4});
  const at::Tensor points =
      at::tensor({0.0, 0.0, -4.0, 0.0, 0.0, -2.0, 0.5, 0.5, -1.0, 0.0, 0.0, 2.0}, at::kDouble).view({4, 3});
  const PictureSize size{200, 200};
  const auto pick = [&](double x, double y) {
    return picked_point(points, 0.01, projection.to(at::kDouble), size, x, y);
  };
  CHECK(pick(100, 100) == 1);  // not the one behind it, and not the one behind the eye
  CHECK(pick(150, 50) == 2);   // to the right and above
  CHECK(pick(153, 52) == 2);
  CHECK_FALSE(pick(20, 20).has_value());
  // A ball of radius 0.5 at depth 2 covers 25 pixels.
  CHECK_FALSE(pick(120, 100).has_value());
  CHECK(picked_point(points, 0.5, projection.to(at::kDouble), size, 120, 100) == 1);
  // Seen in parallel: w is 1 everywhere.
  const at::Tensor parallel =
      at::tensor({0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, -0.1, 0.0, 0.0, 0.0, 0.0, 1.0}, at::kDouble)
          .view({4, 4});
  CHECK(picked_point(points.narrow(0, 0, 3), 0.01, parallel, size, 100, 100) == 1);
  CHECK(picked_point(points.narrow(0, 0, 3), 0.01, parallel, size, 125, 75) == 2);
  CHECK_FALSE(picked_point(at::empty({0, 3}), 1.0, projection.to(at::kDouble), size, 1, 1).has_value());
}

}  // namespace geosft::test::test_camera
