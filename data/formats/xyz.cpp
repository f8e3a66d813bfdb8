// SPDX-License-Identifier: Apache-2.0
#include "data/formats/xyz.h"

#include <array>

#include "data/formats/text_lines.h"

namespace geosft {

FileShape read_xyz(std::string_view text, const std::string& file) {
  TextLines lines(text, file, ",");
  FileShapeBuilder builder(file, "line");
  std::array<double, 6> row;
  size_t expected = 0;
  while (lines.next()) {
    size_t columns = 0;
    for (std::string_view word = lines.word(); !word.empty() && columns <= row.size(); word = lines.word()) {
      if (columns < row.size()) row[columns] = lines.to_number(word, "a coordinate");
      ++columns;
    }
    if (expected == 0 && (columns == 3 || columns == 6)) expected = columns;
    if (columns != expected) {
      lines.fail(expected == 0 ? "3 or 6 columns" : std::to_string(expected) + " columns as above",
                 columns > row.size() ? "more than 6" : std::to_string(columns));
    }
    builder.add_vertex(row[0], row[1], row[2]);
    if (columns == 6) builder.add_normal(row[3], row[4], row[5]);
  }
  return builder.finish(false);
}

}  // namespace geosft
