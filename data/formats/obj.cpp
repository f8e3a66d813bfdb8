// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "data/formats/text_lines.h"

namespace geosft {
namespace {

// A normal is no reason to refuse a file: components of a direction (`vn`) that are no numbers are NaN.
double direction(TextLines& lines) {
  return parse_number(lines.word()).value_or(std::numeric_limits<double>::quiet_NaN());
}

// A corner of a face that names a normal: the rows of its vertex and of its normal, which may follow later.
struct CornerNormal {
  int64_t vertex, normal;
};

// Returns the row of the normal in a corner `v//vn` or `v/vt/vn`, where `before` come before; -1 for none, and for what
// is no number of a normal.
int64_t normal_row(std::string_view corner, int64_t before) {
  const size_t second = corner.find('/', corner.find('/') + 1);
  if (second == corner.npos) return -1;
  const int64_t number = parse_integer(corner.substr(second + 1)).value_or(0);
  return number >= 0 ? number - 1 : before + number;
}

// Returns a direction with length 1; zeros for one that is not longer than `min_length`, or not finite.
std::array<double, 3> unit_direction(const double* xyz, double min_length) {
  const double length = std::hypot(xyz[0], xyz[1], xyz[2]);
  if (!(length > min_length) || !std::isfinite(length)) return {};
  return {xyz[0] / length, xyz[1] / length, xyz[2] / length};
}

// Returns three numbers for each vertex: the mean direction of the normals of its corners, which differ where faces
// meet at a sharp edge; 0 where they have none, or opposite ones.
std::vector<double> vertex_normals(const std::vector<CornerNormal>& corners, const std::vector<double>& directions,
                                   int64_t vertices) {
  constexpr double rounding = 1e-6;
  const auto available = static_cast<int64_t>(directions.size() / 3);
  std::vector<double> normals(3 * static_cast<size_t>(vertices), 0.0);
  for (const auto& [vertex, normal] : corners) {
    if (vertex >= vertices || normal >= available) continue;
    const std::array<double, 3> unit = unit_direction(directions.data() + 3 * normal, 0.0);
    for (size_t axis = 0; axis < 3; ++axis) normals[3 * static_cast<size_t>(vertex) + axis] += unit[axis];
  }
  for (auto sum = normals.begin(); sum != normals.end(); sum += 3) {
    std::ranges::copy(unit_direction(&*sum, rounding), sum);
  }
  return normals;
}

// `directions` so far; adds the corners with normals to `corner_normals`.
void read_obj_face(TextLines& lines, std::vector<int64_t>& corners, FileShapeBuilder& builder,
                   const std::vector<double>& directions, std::vector<CornerNormal>& corner_normals) {
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
    const int64_t normal = normal_row(word, static_cast<int64_t>(directions.size() / 3));
    if (normal >= 0) corner_normals.push_back({corners.back(), normal});
  }
  builder.add_polygon(corners, line);
}

}  // namespace

FileShape read_obj(std::string_view text, const std::string& file) {
  TextLines lines(text, file, "", /*continues=*/true);
  FileShapeBuilder builder(file, "line", /*first_corner=*/1);
  std::vector<int64_t> corners;
  std::vector<double> directions;
  std::vector<CornerNormal> corner_normals;
  while (lines.next()) {
    const int64_t line = lines.line_number();
    const std::string keyword = lower_case(lines.word());
    if (keyword == "v") {
      const double x = lines.any_number("a coordinate"), y = lines.any_number("a coordinate");
      builder.add_vertex(x, y, lines.any_number("a coordinate"), line);
    } else if (keyword == "vn") {
      for (int axis = 0; axis < 3; ++axis) directions.push_back(direction(lines));
    } else if (keyword == "f" || keyword == "fo") {
      read_obj_face(lines, corners, builder, directions, corner_normals);
    }
  }
  const bool is_mesh = builder.triangle_count() > 0;
  if (is_mesh) directions = vertex_normals(corner_normals, directions, builder.vertex_count());
  const bool has_normals = !is_mesh || std::ranges::any_of(directions, [](double value) { return value != 0; });
  if (has_normals && static_cast<int64_t>(directions.size()) == 3 * builder.vertex_count()) {
    for (size_t i = 0; i < directions.size(); i += 3) {
      builder.add_normal(directions[i], directions[i + 1], directions[i + 2]);
    }
  }
  return builder.finish();
}

}  // namespace geosft
