// SPDX-License-Identifier: Apache-2.0
// LAS files that the tests make.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/data/files.h"

namespace geosft::test {

struct LasExample {
  int minor = 2;      // version 1.minor
  int format = 1;     // point data record format
  size_t record = 0;  // bytes of a record; 0: those of the format
  std::vector<std::array<int32_t, 3>> points = {{0, 0, 0}, {100, -200, 300}};
  double scale = 0.01;
  std::array<double, 3> offset = {500000, 4000000, 100};
};

// `values` written over the bytes from `at` on.
inline void overwrite(std::string& bytes, size_t at, const std::string& values) {
  bytes.replace(at, values.size(), values);
}

inline std::string las_bytes(const LasExample& example) {
  constexpr std::array<size_t, 11> sizes = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
  const size_t header = example.minor == 4 ? 375 : example.minor == 3 ? 235 : 227;
  const size_t record = example.record > 0 ? example.record : sizes.at(static_cast<size_t>(example.format));
  std::string bytes(header, '\0');
  overwrite(bytes, 0, "LASF");
  overwrite(bytes, 24, raw(uint8_t{1}) + raw(static_cast<uint8_t>(example.minor)));
  overwrite(bytes, 94, raw(static_cast<uint16_t>(header)) + raw(static_cast<uint32_t>(header + 10)));
  overwrite(bytes, 104, raw(static_cast<uint8_t>(example.format)) + raw(static_cast<uint16_t>(record)));
  const bool legacy = example.minor < 4 || example.format < 6;
  overwrite(bytes, 107, raw(static_cast<uint32_t>(legacy ? example.points.size() : 0)));
  if (example.minor == 4) overwrite(bytes, 247, raw(uint64_t{example.points.size()}));
  for (size_t axis = 0; axis < 3; ++axis) {
    overwrite(bytes, 131 + 8 * axis, raw(example.scale));
    overwrite(bytes, 155 + 8 * axis, raw(example.offset.at(axis)));
  }
  bytes += "ten bytes.";  // where variable length records are
  for (const auto& point : example.points) {
    bytes += raw(point[0]) + raw(point[1]) + raw(point[2]) + std::string(record - 12, 'x');
  }
  return bytes;
}

}  // namespace geosft::test
