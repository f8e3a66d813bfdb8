// SPDX-License-Identifier: Apache-2.0
// Defines the camera, fits it to a scene, and finds the point under a pixel.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <optional>
#include <string>

namespace geosft::view {

// An orbit camera: rotated about the vertical axis (y), then raised; it looks at the middle of the scene.
struct Camera {
  double azimuth = 35.0, elevation = 20.0;  // degrees; azimuth 0 looks along -z
  double distance = 1.0;                    // 1: the scene fills the picture
  bool orthographic = false;
};

// "az,el,dist" or "az,el". Throws UsageError for anything else, an elevation outside [-90, 90] or a distance outside
// [0.05, 10].
Camera camera_of(const std::string& text);

// Unit vectors from the middle of the scene towards the eye, and up.
std::array<double, 3> towards_eye(const Camera& camera);
std::array<double, 3> upwards(const Camera& camera);

// The bounding box, in camera axes, of balls of equal radius: its middle, and half its extents across, upwards and
// along the line of sight.
struct SeenBox {
  std::array<double, 3> middle;
  double wide, tall, deep;
  at::Tensor places;  // double [m, 3], from the middle: points that must be visible
  double radius;      // margin around places
};
// points: double [n, 3], n > 0; front and up as above. With `turning`, the box holds the points during a full turn
// about the vertical axis.
SeenBox seen_box(const at::Tensor& points, double radius, const std::array<double, 3>& front,
                 const std::array<double, 3>& up, bool turning);

// The size of a picture in pixels.
struct PictureSize {
  int width = 1280, height = 960;
  bool operator==(const PictureSize&) const = default;
};
// "WxH", each from 16 to 8192. Throws UsageError for anything else.
PictureSize size_of(const std::string& text);

// A rectangle of a picture, in pixels from its upper left corner.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const Box&) const = default;
};
// Returns the scene length, at the depth of the middle, that half the height of the picture spans when the middle
// appears at the middle of `room` and all places appear within it. Accounts for perspective; a field of view of 0 is
// orthographic.
double reach_in(const Box& room, const PictureSize& size, const SeenBox& seen, double field_of_view_degrees);

// Returns the box with its middle moved across and upwards such that the margins left and right of the places, and
// those above and below them, are equal in the picture. `front` and `up` as above.
SeenBox balanced(SeenBox seen, const std::array<double, 3>& front, const std::array<double, 3>& up, const Box& room,
                 const PictureSize& size, double field_of_view_degrees);

// Returns the row of points [n, 3] nearest to the eye among those whose ball covers the pixel (x, y), counted from the
// upper left corner, or whose centre is within 6 pixels of it; nullopt if no point qualifies. `projection`: double [4,
// 4], clip = projection * (x, y, z, 1).
std::optional<int64_t> picked_point(const at::Tensor& points, double radius, const at::Tensor& projection,
                                    const PictureSize& size, double x, double y);

}  // namespace geosft::view
