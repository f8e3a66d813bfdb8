// SPDX-License-Identifier: Apache-2.0
#include "data/formats/obj.h"

#include "data/formats/text_lines.h"

namespace geosft {
namespace {

std::string_view next_word(TextLines& lines) {
  std::string_view word = lines.word();
  while (word == "\\" && lines.next_raw()) word = lines.word();
  return word;
}

double coordinate(TextLines& lines) {
  return lines.to_number(next_word(lines), "a coordinate");
}

void read_obj_face(TextLines& lines, std::vector<int64_t>& corners, FileShapeBuilder& builder) {
  const int64_t line = lines.line_number();
  corners.clear();
  for (std::string_view word = next_word(lines); !word.empty(); word = next_word(lines)) {
    const int64_t index = lines.to_integer(word.substr(0, word.find('/')), "the number of a vertex");
    if (index == 0) lines.fail("vertex numbers from 1, or negative ones", "0");
    corners.push_back(index > 0 ? index - 1 : builder.vertex_count() + index);
  }
  // Some modelling programs write edges as faces with 2 corners. They have no area and are skipped.
  if (corners.size() != 2) builder.add_polygon(corners, line);
}

}  // namespace

FileShape read_obj(std::string_view text, const std::string& file) {
  TextLines lines(text, file);
  FileShapeBuilder builder(file, "line");
  std::vector<int64_t> corners;
  while (lines.next()) {
    const std::string_view keyword = lines.word();
    if (keyword == "v") {
      const double x = coordinate(lines), y = coordinate(lines), z = coordinate(lines);
      builder.add_vertex(x, y, z);
    } else if (keyword == "f") {
      read_obj_face(lines, corners, builder);
    }
  }
  return builder.finish(true);
}

}  // namespace geosft
