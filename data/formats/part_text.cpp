// SPDX-License-Identifier: Apache-2.0
#include "data/formats/part_text.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "data/formats/point_labels.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

constexpr const char* part_number = "the number of a part, or -1 without a label";

int64_t part_of(const TextLines& lines, std::string_view word) {
  const double number = lines.to_number(word, part_number);
  if (number != std::floor(number) || number < unlabelled_part || number >= part_number_limit)
    lines.fail_word(part_number, word);
  return static_cast<int64_t>(number);
}

}  // namespace

Shape labelled_cloud(FileShape content, at::Tensor parts, const std::string& file, bool drop_invalid) {
  if (drop_invalid) {
    const at::Tensor rows = content.drop_invalid(file);
    if (rows.defined()) parts = parts.index_select(0, rows);
  }
  content.require_finite(FileShape::drop_invalid_advice);
  Shape shape{{}, content.normals, -1, file, parts};
  set_points(shape, content.mesh.vertices);
  shape.warnings = std::move(content.warnings);
  return shape;
}

Shape read_labelled_points(std::string_view text, const std::string& file, bool drop_invalid) {
  TextLines lines(text, file);
  FileShapeBuilder builder(file, "line");
  std::vector<int64_t> parts;
  std::array<double, 6> row;
  while (lines.next()) {
    constexpr const char* columns = "x y z nx ny nz and the number of a part";
    for (size_t i = 0; i < row.size(); ++i) row[i] = i < 3 ? lines.any_number(columns) : lines.number(columns);
    builder.add_vertex(row[0], row[1], row[2], lines.line_number());
    builder.add_normal(row[3], row[4], row[5]);
    parts.push_back(part_of(lines, lines.word()));
    lines.end_of_line(columns);
  }
  return labelled_cloud(builder.finish(), at::tensor(parts, at::kLong), file, drop_invalid);
}

at::Tensor read_point_labels(std::string_view text, int64_t points, const std::string& file) {
  TextLines lines(text, file);
  std::vector<int64_t> labels;
  while (lines.next()) {
    labels.push_back(part_of(lines, lines.word()));
    lines.end_of_line("the number of a part");
  }
  if (static_cast<int64_t>(labels.size()) != points) {
    throw DataError(file, "a line for each of " + std::to_string(points) + " points", std::to_string(labels.size()));
  }
  return at::tensor(labels, at::kLong);
}

}  // namespace geosft
