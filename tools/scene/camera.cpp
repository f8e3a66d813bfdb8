// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/camera.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>
#include <vector>

#include "tools/experiment/arguments.h"

namespace geosft::view {
namespace {

constexpr double min_reach = 6.0;  // pixels

double radians(double degrees) {
  return degrees * std::numbers::pi / 180.0;
}

// Parses the numbers between separators; nullopt if one is not a number.
std::optional<std::vector<double>> numbers_of(const std::string& text, char separator) {
  std::vector<double> numbers;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    size_t used = 0;
    try {
      numbers.push_back(std::stod(part, &used));
    } catch (const std::exception&) {
      return std::nullopt;
    }
    if (used != part.size() || !std::isfinite(numbers.back())) return std::nullopt;
  }
  return numbers;
}

std::array<double, 3> rightwards(const std::array<double, 3>& front, const std::array<double, 3>& up) {
  return {up[1] * front[2] - up[2] * front[1], up[2] * front[0] - up[0] * front[2],
          up[0] * front[1] - up[1] * front[0]};
}

}  // namespace

Camera camera_of(const std::string& text) {
  const auto numbers = numbers_of(text, ',');
  const bool formed = numbers && (numbers->size() == 2 || numbers->size() == 3);
  Camera camera;
  if (formed) camera = {(*numbers)[0], (*numbers)[1], numbers->size() == 3 ? (*numbers)[2] : 1.0};
  if (!formed || std::abs(camera.elevation) > 90 || camera.distance < 0.05 || camera.distance > 10) {
    throw UsageError(
        "--view: expected AZIMUTH,ELEVATION[,DISTANCE] with the elevation from -90 to 90 degrees and the "
        "distance from 0.05 to 10, found '" +
        text + "'");
  }
  return camera;
}

std::array<double, 3> towards_eye(const Camera& camera) {
  const double a = radians(camera.azimuth), e = radians(camera.elevation);
  return {std::cos(e) * std::sin(a), std::sin(e), std::cos(e) * std::cos(a)};
}

std::array<double, 3> upwards(const Camera& camera) {
  const double a = radians(camera.azimuth), e = radians(camera.elevation);
  return {-std::sin(e) * std::sin(a), std::cos(e), -std::sin(e) * std::cos(a)};
}

SeenBox seen_box(const at::Tensor& points, double radius, const std::array<double, 3>& front,
                 const std::array<double, 3>& up, bool turning) {
  const std::array<double, 3> right = rightwards(front, up);
  at::Tensor axes = at::empty({3, 3}, at::kDouble);
  double* entry = axes.mutable_data_ptr<double>();
  for (const auto& axis : {right, up, front}) entry = std::copy(axis.begin(), axis.end(), entry);
  if (turning) axes = at::eye(3, at::kDouble);
  const at::Tensor places = points.to(at::kDouble).matmul(axes.t());
  const at::Tensor low = places.amin(0), high = places.amax(0);
  const at::Tensor middle = (low + high) / 2, half = (high - low) / 2 + radius;
  const auto m = middle.matmul(axes).contiguous(), h = half.contiguous();
  const double *at_middle = m.const_data_ptr<double>(), *sides = h.const_data_ptr<double>();
  const std::array<double, 3> centre{at_middle[0], at_middle[1], at_middle[2]};
  if (!turning) return {centre, sides[0], sides[1], sides[2], places - middle, radius};
  // A turning cloud stays within an upright cylinder.
  const double reach = (places - middle).index_select(1, at::tensor({0, 2}, at::kLong)).norm(2, 1).max().item<double>();
  const auto along = [&](const std::array<double, 3>& axis) {
    return sides[1] * std::abs(axis[1]) + (reach + radius) * std::hypot(axis[0], axis[2]);
  };
  const at::Tensor maximum = at::tensor({along(right), along(up), along(front)}, at::kDouble);
  const at::Tensor end = at::tensor({-1.0, 1.0}, at::kDouble);
  return {centre, along(right), along(up), along(front), at::cartesian_prod({end, end, end}) * maximum, 0.0};
}

PictureSize size_of(const std::string& text) {
  const auto numbers = numbers_of(text, 'x');
  const auto fits = [](double side) { return side >= 16 && side <= 8192 && side == std::floor(side); };
  if (!numbers || numbers->size() != 2 || !fits((*numbers)[0]) || !fits((*numbers)[1])) {
    throw UsageError("--size: expected WIDTHxHEIGHT, each from 16 to 8192 pixels, found '" + text + "'");
  }
  return {static_cast<int>((*numbers)[0]), static_cast<int>((*numbers)[1])};
}

double reach_in(const Box& room, const PictureSize& size, const SeenBox& seen, double field_of_view_degrees) {
  const double half = size.height / 2.0, slope = std::tan(radians(field_of_view_degrees) / 2);
  const at::Tensor across = seen.places.select(1, 0), above = seen.places.select(1, 1), near = seen.places.select(1, 2);
  double reach = 0.0;
  // The distance of the room's edge in pixels: `edge` from the middle of the picture, `half_room` from that of the
  // room.
  const auto towards = [&](const at::Tensor& outward, double edge, double half_room) {
    const at::Tensor needed = (outward + seen.radius + near * (slope * edge / half)) * (half / half_room);
    reach = std::max(reach, needed.max().item<double>());
  };
  const double half_across = (room.right - room.left) / 2, half_down = (room.bottom - room.top) / 2;
  towards(across, room.right - size.width / 2.0, half_across);
  towards(-across, size.width / 2.0 - room.left, half_across);
  towards(above, half - room.top, half_down);
  towards(-above, room.bottom - half, half_down);
  return reach;
}

SeenBox balanced(SeenBox seen, const std::array<double, 3>& front, const std::array<double, 3>& up, const Box& room,
                 const PictureSize& size, double field_of_view_degrees) {
  constexpr int rounds = 4;  // each leaves a small part of the difference
  const std::array<double, 3> right = rightwards(front, up);
  const double slope = std::tan(radians(field_of_view_degrees) / 2);
  for (int round = 0; round < rounds; ++round) {
    const double reach = reach_in(room, size, seen, field_of_view_degrees);
    const double pixels = size.height / 2.0 / reach;  // per length, at the depth of the middle
    const at::Tensor nearer = 1.0 / (1.0 - seen.places.select(1, 2) * (slope / reach));
    // Returns the length by which the places appear off the middle of the room along an axis.
    const auto excess = [&](int64_t axis, double room_middle) {
      const at::Tensor place = seen.places.select(1, axis);
      const double low = ((room_middle + pixels * (place - seen.radius)) * nearer).min().item<double>();
      const double high = ((room_middle + pixels * (place + seen.radius)) * nearer).max().item<double>();
      return ((low + high) / 2 - room_middle) / pixels;
    };
    const double across = excess(0, (room.left + room.right - size.width) / 2);
    const double above = excess(1, (size.height - room.top - room.bottom) / 2);
    for (size_t axis = 0; axis < 3; ++axis) seen.middle[axis] += across * right[axis] + above * up[axis];
    seen.places = seen.places - at::tensor({across, above, 0.0}, at::kDouble);
  }
  return seen;
}

std::optional<int64_t> picked_point(const at::Tensor& points, double radius, const at::Tensor& projection,
                                    const PictureSize& size, double x, double y) {
  if (points.size(0) == 0) return std::nullopt;
  const at::Tensor homogeneous =
      at::cat({points.to(at::kDouble), at::ones({points.size(0), 1}, at::kDouble)}, 1).matmul(projection.t());
  const at::Tensor w = homogeneous.select(1, 3);  // distance along the line of sight
  const at::Tensor across = (homogeneous.select(1, 0) / w + 1) / 2 * size.width - x;
  const at::Tensor down = (1 - homogeneous.select(1, 1) / w) / 2 * size.height - y;
  // The length of the row that scales the vertical axis does not change when the camera turns.
  const double scale = projection[1].narrow(0, 0, 3).norm().item<double>() * size.height / 2;
  const at::Tensor reach = (radius * scale / w).clamp_min(min_reach);
  const at::Tensor under = at::logical_and(w > 0, across.square() + down.square() <= reach.square());
  if (!under.any().item<bool>()) return std::nullopt;
  const at::Tensor depth = homogeneous.select(1, 2) / w;  // grows with the distance, also where w is constant
  return depth.masked_fill(under.logical_not(), std::numeric_limits<double>::infinity()).argmin().item<int64_t>();
}

}  // namespace geosft::view
