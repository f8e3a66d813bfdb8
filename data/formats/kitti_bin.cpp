// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <cmath>

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/text_lines.h"

namespace geosft {

FileShape read_kitti_bin(std::string_view bytes, const std::string& file) {
  constexpr float farthest = 1e5F;
  const bool has_ring = lower_case(file).find(".pcd.bin") != std::string::npos;
  const size_t point_size = (has_ring ? 5 : 4) * sizeof(float);
  if (bytes.size() % point_size != 0) {
    throw DataError(file, "a laser scan, points of " + std::to_string(point_size) + " bytes",
                    std::to_string(bytes.size()) + " bytes");
  }
  // Files of other numbers of columns are common, and nothing in them says so; intensities are never negative.
  const size_t numbers = bytes.size() / sizeof(float);
  const auto divides = [&](size_t columns) { return columns * sizeof(float) != point_size && numbers % columns == 0; };
  const bool ambiguous = divides(3) || divides(5) || divides(6) || divides(7) || divides(8);
  FileShapeBuilder builder(file, "point");
  for (size_t at = 0; at < bytes.size(); at += point_size) {
    const auto x = load_number<float>(bytes, at), y = load_number<float>(bytes, at + 4),
               z = load_number<float>(bytes, at + 8);
    if (std::abs(x) > farthest || std::abs(y) > farthest || std::abs(z) > farthest) {
      throw DataError(file, "a laser scan, with coordinates in metres",
                      "one beyond 100 km at point " + std::to_string(builder.vertex_count() + 1));
    }
    const auto intensity = load_number<float>(bytes, at + 12);
    if (ambiguous && intensity < 0) {
      throw DataError(
          file,
          "a laser scan of " + std::to_string(point_size / sizeof(float)) +
              " numbers a point, x, y, z and an intensity of 0 or more (other arrays: as .npy)",
          "intensity " + std::to_string(intensity) + " at point " + std::to_string(builder.vertex_count() + 1));
    }
    builder.add_vertex(x, y, z);
  }
  return builder.finish();
}

}  // namespace geosft
