// SPDX-License-Identifier: Apache-2.0
// The camera, and the point of the scene under a place of the picture.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <string>

namespace geosft::view {

// Rotated about the vertical axis (y), then raised; the camera looks at the middle of the scene.
struct Camera {
  double azimuth = 35.0, elevation = 20.0;  // degrees; azimuth 0 looks along -z
  double distance = 1.0;                    // 1: the scene fills the picture
};

// "az,el,dist" or "az,el". Throws UsageError for anything else; elevation in [-90, 90], distance in [0.05, 10].
Camera camera_of(const std::string& text);

// Unit vectors from the middle of the scene towards the eye, and up.
std::array<double, 3> towards_eye(const Camera& camera);
std::array<double, 3> upwards(const Camera& camera);

// The box around balls of one radius as seen from somewhere: its middle, and halves of its sides across, upwards and
// along the line of sight.
struct SeenBox {
  std::array<double, 3> middle;
  double wide, tall, deep;
  at::Tensor
      places;     // double [m, 3], across, upwards and towards the eye from the middle: what must be in the picture,
  double radius;  // with so much room around
};
// points: double [n, 3], n > 0; front and up as above. `turning`: large enough for a whole turn about the vertical
// axis.
SeenBox seen_box(const at::Tensor& points, double radius, const std::array<double, 3>& front,
                 const std::array<double, 3>& up, bool turning);

// Pixels.
struct PictureSize {
  int width = 1000, height = 700;
  bool operator==(const PictureSize&) const = default;
};
// "WxH", each from 16 to 8192. Throws UsageError for anything else.
PictureSize size_of(const std::string& text);

// A part of a picture, in pixels from its upper left corner.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const Box&) const = default;
};
// How much of the scene, at the depth of its middle, half the height of the picture shows where the middle appears in
// that of the room and all places within it. What is nearer looks larger, and farther from the middle of the picture.
double reach_in(const Box& room, const PictureSize& size, const SeenBox& seen, double field_of_view_degrees);

// The row of points [n, 3] nearest to the eye among those whose ball of that radius is under the place (x, y), in
// pixels from the upper left corner, or whose middle is within 6 pixels of it; nothing when there is none.
// `projection`: double [4, 4], clip = projection * (x, y, z, 1).
std::optional<int64_t> picked_point(const at::Tensor& points, double radius, const at::Tensor& projection,
                                    const PictureSize& size, double x, double y);

}  // namespace geosft::view
