// SPDX-License-Identifier: Apache-2.0
// A dataset of a few small shapes of three classes, to train on in a second.
#pragma once

#include <array>
#include <cmath>
#include <filesystem>
#include <string>

#include "tests/data/files.h"

namespace geosft::test {

inline std::string cube_off(double height) {
  std::string text = "OFF\n8 6 0\n";
  for (int corner = 0; corner < 8; ++corner) {
    text += std::to_string(corner & 1) + " " + std::to_string((corner >> 1) & 1) + " " +
            std::to_string(height * (corner >> 2)) + "\n";
  }
  return text + "4 0 2 3 1\n4 4 5 7 6\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n";
}

inline std::string tetrahedron_off(double height) {
  return "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 " + std::to_string(height) + "\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
}

// Points spread over an ellipsoid by the golden angle, without a symmetry that would make points equal in all their
// distances; normals are those of the sphere.
inline std::string sphere_xyz(double height, int count = 200, bool normals = true) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - 2 * (i + 0.3) / count, radius = std::sqrt(1 - z * z), angle = 2.399963 * i;
    const double x = radius * std::cos(angle), y = radius * std::sin(angle);
    text += std::to_string(1.2 * x) + " " + std::to_string(y) + " " + std::to_string(height * z);
    if (normals) text += " " + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z);
    text += "\n";
  }
  return text;
}

// {train,test}/{cube,sphere,tetrahedron}: 5 and 2 shapes a class.
inline void write_tiny_dataset(const std::filesystem::path& root) {
  for (int i = 0; i < 7; ++i) {
    const std::filesystem::path split = root / (i < 5 ? "train" : "test");
    const std::string number = std::to_string(i);
    const double height = 0.8 + 0.1 * i;
    write_text(split / "cube" / ("cube_" + number + ".off"), cube_off(height));
    write_text(split / "sphere" / ("sphere_" + number + ".xyz"), sphere_xyz(height));
    write_text(split / "tetrahedron" / ("tetrahedron_" + number + ".off"), tetrahedron_off(height));
  }
}

}  // namespace geosft::test
