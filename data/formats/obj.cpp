// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <limits>
#include <string>

#include "data/formats/text_lines.h"

namespace geosft {
namespace {

// Directions (`vn`) are of interest only if the file turns out to be a cloud, so those that are no numbers are NaN.
double direction(TextLines& lines) {
  return parse_number(lines.word()).value_or(std::numeric_limits<double>::quiet_NaN());
}

void read_obj_face(TextLines& lines, std::vector<int64_t>& corners, FileShapeBuilder& builder) {
  const int64_t line = lines.line_number();
  corners.clear();
  for (std::string_view word = lines.word(); !word.empty(); word = lines.word()) {
    const int64_t index = lines.to_integer(word.substr(0, word.find('/')), "the number of a vertex");
    if (index == 0) lines.fail("vertex numbers from 1, or negative ones", "0");
    const int64_t before = builder.vertex_count();
    if (index < -before) {
      const std::string count = std::to_string(before);
      lines.fail(before == 0 ? "no negative vertex number, as no vertex comes before"
                             : "-" + count + " or above, as " + count + " vertices come before",
                 std::to_string(index));
    }
    corners.push_back(index > 0 ? index - 1 : before + index);
  }
  builder.add_polygon(corners, line);
}

}  // namespace

FileShape read_obj(std::string_view text, const std::string& file) {
  TextLines lines(text, file, "", /*continues=*/true);
  FileShapeBuilder builder(file, "line", /*first_corner=*/1);
  std::vector<int64_t> corners;
  std::vector<double> directions;
  while (lines.next()) {
    const int64_t line = lines.line_number();
    const std::string keyword = lower_case(lines.word());
    if (keyword == "v") {
      const double x = lines.any_number("a coordinate"), y = lines.any_number("a coordinate");
      builder.add_vertex(x, y, lines.any_number("a coordinate"), line);
    } else if (keyword == "vn") {
      for (int axis = 0; axis < 3; ++axis) directions.push_back(direction(lines));
    } else if (keyword == "f" || keyword == "fo") {
      read_obj_face(lines, corners, builder);
    }
  }
  const bool is_cloud = builder.triangle_count() == 0;
  if (is_cloud && static_cast<int64_t>(directions.size()) == 3 * builder.vertex_count()) {
    for (size_t i = 0; i < directions.size(); i += 3) {
      builder.add_normal(directions[i], directions[i + 1], directions[i + 2]);
    }
  }
  return builder.finish();
}

}  // namespace geosft
