// SPDX-License-Identifier: Apache-2.0
// A chair of 1 m in UTM coordinates, where a float32 has steps of 1/16 m and of 1/2 m.
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include "tests/support.h"

namespace geosft::test {

// Points of a seat, a back and four legs, double [n, 3] in [0, 1].
inline at::Tensor chair_points(int64_t n) {
  const std::array<std::array<double, 6>, 6> boxes = {{{0, 0, 0.4, 0.6, 0.6, 0.05},
                                                       {0, 0.55, 0.4, 0.6, 0.05, 0.6},
                                                       {0, 0, 0, 0.05, 0.05, 0.4},
                                                       {0.55, 0, 0, 0.05, 0.05, 0.4},
                                                       {0, 0.55, 0, 0.05, 0.05, 0.4},
                                                       {0.55, 0.55, 0, 0.05, 0.05, 0.4}}};
  at::Tensor points = at::rand({n, 3}, generator(11), at::kDouble);
  for (int64_t i = 0; i < n; ++i) {
    const auto& box = boxes[static_cast<size_t>(i) % boxes.size()];
    for (int64_t axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<size_t>(axis);
      points[i][axis] = box[a] + box[a + 3] * points[i][axis].item<double>();
    }
  }
  return points;
}

inline at::Tensor utm_offset() {
  return at::tensor({694386.0, 5155487.0, 431.0}, at::kDouble);
}

// The same chair, and as it is at the origin, to the same digits.
inline at::Tensor utm_chair(int64_t n) {
  return chair_points(n) + utm_offset();
}
inline at::Tensor chair_at_origin(int64_t n) {
  return utm_chair(n) - utm_offset();
}

// A cloud of double precision as the text of a ply, xyz or pcd file; as obj, triangles of three consecutive points
// each.
inline std::string double_cloud_text(const std::string& format, const at::Tensor& points) {
  const std::string count = std::to_string(points.size(0));
  std::string text;
  if (format == "ply") {
    text = "ply\nformat ascii 1.0\nelement vertex " + count +
           "\nproperty double x\nproperty double y\nproperty double z\nend_header\n";
  } else if (format == "pcd") {
    text = "VERSION .7\nFIELDS x y z\nSIZE 8 8 8\nTYPE F F F\nCOUNT 1 1 1\nWIDTH " + count + "\nHEIGHT 1\nPOINTS " +
           count + "\nDATA ascii\n";
  }
  for (int64_t i = 0; i < points.size(0); ++i) {
    std::array<char, 128> line;
    std::snprintf(line.data(), line.size(), "%s%.17g %.17g %.17g\n", format == "obj" ? "v " : "",
                  points[i][0].item<double>(), points[i][1].item<double>(), points[i][2].item<double>());
    text += line.data();
  }
  for (int64_t i = 3; format == "obj" && i <= points.size(0); i += 3) {
    text += "f " + std::to_string(i - 2) + " " + std::to_string(i - 1) + " " + std::to_string(i) + "\n";
  }
  return text;
}

}  // namespace geosft::test
