// SPDX-License-Identifier: Apache-2.0
#include "data/formats/off.h"

#include <algorithm>
#include <iterator>

#include "data/formats/text_lines.h"

namespace geosft {
namespace {

struct Counts {
  int64_t vertices, faces;
};

Counts read_counts(TextLines& lines) {
  if (!lines.next()) lines.fail("a line that begins with OFF", "an empty file");
  const std::string_view magic = lines.word();
  const size_t end = magic.find("OFF");
  // ST, C and N: texture, colour and normal follow the coordinates of a vertex. "4OFF" has other coordinates.
  static constexpr std::string_view prefixes[] = {"", "ST", "C", "N", "STC", "STN", "CN", "STCN"};
  const bool known = end != std::string_view::npos &&
                     std::find(std::begin(prefixes), std::end(prefixes), magic.substr(0, end)) != std::end(prefixes);
  if (!known) lines.fail_word("a line that begins with OFF", magic);
  std::string_view word = magic.substr(end + 3);
  if (word == "BINARY" || lines.rest().starts_with("BINARY")) lines.fail("a text file", "a binary one");
  if (word.empty()) word = lines.word();
  if (word.empty()) {
    lines.next();
    word = lines.word();
  }
  const int64_t vertices = lines.to_integer(word, "the number of vertices");
  const int64_t faces = lines.integer("the number of faces");
  // A vertex or face takes at least 6 bytes ("0 0 0\n"), so larger counts are invalid.
  const auto most = static_cast<int64_t>(lines.bytes_left() / 6 + 1);
  if (vertices < 1 || faces < 1 || vertices > most || faces > most) {
    lines.fail("numbers of vertices and faces between 1 and " + std::to_string(most) + ", for a file of this size",
               std::to_string(vertices) + " and " + std::to_string(faces));
  }
  return {vertices, faces};
}

void read_off_face(TextLines& lines, std::vector<int64_t>& corners, FileShapeBuilder& builder) {
  const int64_t count = lines.integer("the number of corners");
  corners.clear();
  for (int64_t i = 0; i < count; ++i) corners.push_back(lines.integer("the number of a vertex"));
  builder.add_polygon(corners, lines.line_number());
}

}  // namespace

FileShape read_off(std::string_view text, const std::string& file) {
  TextLines lines(text, file);
  FileShapeBuilder builder(file, "line");
  const Counts counts = read_counts(lines);
  for (int64_t i = 0; i < counts.vertices; ++i) {
    if (!lines.next()) lines.fail(std::to_string(counts.vertices) + " vertices", "only " + std::to_string(i));
    const double x = lines.number("a coordinate"), y = lines.number("a coordinate"), z = lines.number("a coordinate");
    builder.add_vertex(x, y, z);
  }
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < counts.faces; ++i) {
    if (!lines.next()) lines.fail(std::to_string(counts.faces) + " faces", "only " + std::to_string(i));
    read_off_face(lines, corners, builder);
  }
  return builder.finish(true);
}

}  // namespace geosft
