// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "data/formats/text_lines.h"

namespace geosft {
namespace {

struct Counts {
  int64_t vertices, faces;
};

// Returns the first word of a file in upper case, unless it holds "OFF" so: then the case of what is before it counts.
std::string upper_magic(std::string_view word) {
  std::string magic(word);
  if (word.find("OFF") != std::string_view::npos) return magic;
  for (char& c : magic) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return magic;
}

// The words of a file whose line breaks mean nothing up to the corners of a face.
class OffWords {
 public:
  OffWords(std::string_view text, const std::string& file) : lines_(text, file) {}

  Counts read_counts() {
    if (!lines_.next()) lines_.fail("a line that begins with OFF", "an empty file");
    const std::string_view first = lines_.word();
    const std::string magic = upper_magic(first);
    const size_t end = magic.find("OFF");
    // ST, C and N: texture, colour and normal follow the coordinates of a vertex. "4OFF" has other coordinates.
    static constexpr std::string_view prefixes[] = {"", "ST", "C", "N", "STC", "STN", "CN", "STCN"};
    const auto* const known = std::find(std::begin(prefixes), std::end(prefixes), magic.substr(0, end));
    if (end == std::string::npos || known == std::end(prefixes)) {
      lines_.fail_word("a line that begins with OFF", first);
    }
    has_extras_ = !known->empty();
    std::string_view word = first.substr(end + 3);
    const auto is_binary = [](std::string_view text) { return lower_case(text.substr(0, 6)) == "binary"; };
    if (is_binary(word) || is_binary(lines_.rest())) lines_.fail("a text file", "a binary one");
    if (word.empty()) word = flowing_word();
    const int64_t vertices = lines_.to_integer(word, "the number of vertices");
    const int64_t faces = lines_.to_integer(flowing_word(), "the number of faces");
    pass_edges();
    // A vertex takes at least 6 bytes ("0 0 0\n") and a face 2, so larger counts are invalid.
    const size_t left = lines_.bytes_left() + lines_.rest().size();
    const auto maximum = static_cast<int64_t>(left / 6 + 1);
    const auto max_faces = static_cast<int64_t>(left / 2 + 1);
    if (vertices < 1 || faces < 0 || vertices > maximum || faces > max_faces) {
      lines_.fail("numbers of vertices and faces from 1 and 0 to " + std::to_string(maximum) + " and " +
                      std::to_string(max_faces) + ", for a file of this size",
                  std::to_string(vertices) + " and " + std::to_string(faces));
    }
    flows_ = !has_lines(vertices + faces);
    return {vertices, faces};
  }

  void read_vertex(int64_t number, const Counts& counts, FileShapeBuilder& builder) {
    if (!begin_vertex()) lines_.fail(std::to_string(counts.vertices) + " vertices", "only " + std::to_string(number));
    const double x = coordinate(), y = coordinate();
    builder.add_vertex(x, y, coordinate(), lines_.line_number());
  }

  void read_face(int64_t number, const Counts& counts, std::vector<int64_t>& corners, FileShapeBuilder& builder) {
    if (!begin_face(number)) lines_.fail(std::to_string(counts.faces) + " faces", "only " + std::to_string(number));
    const int64_t line = lines_.line_number(), count = lines_.integer("the number of corners");
    corners.clear();
    for (int64_t i = 0; i < count; ++i) corners.push_back(lines_.to_integer(next_word(), "the number of a vertex"));
    builder.add_polygon(corners, line);
  }

 private:
  // Skips the number of edges, which may be absent or on a line of its own.
  void pass_edges() {
    if (!lines_.word().empty()) return;
    TextLines ahead = lines_;
    if (ahead.next() && !ahead.word().empty() && ahead.word().empty()) lines_ = ahead;
  }
  // Returns whether so many lines with words follow.
  bool has_lines(int64_t count) const {
    TextLines ahead = lines_;
    int64_t found = 0;
    while (found < count && ahead.next()) ++found;
    return found == count;
  }
  std::string_view flowing_word() {
    std::string_view word = lines_.word();
    while (word.empty() && lines_.next()) word = lines_.word();
    return word;
  }
  std::string_view next_word() { return flows_ ? flowing_word() : lines_.word(); }
  double coordinate() { return lines_.to_any_number(next_word(), "a coordinate"); }
  // Vertices with colours and the like have a varying number of words, so each begins a line.
  bool begin_vertex() { return flows_ && !has_extras_ ? at_word() : lines_.next(); }
  // Numbers after the corners of a face are its colour, unless it is the last line.
  bool begin_face(int64_t number) {
    if (!flows_) return lines_.next();
    TextLines ahead = lines_;
    if (number == 0 || !ahead.next()) return at_word();
    lines_ = ahead;
    return true;
  }
  bool at_word() {
    TextLines ahead = lines_;
    return !ahead.word().empty() || lines_.next();
  }

  TextLines lines_;
  bool flows_ = false;  // line breaks mean nothing within vertices and before the last corner of a face
  bool has_extras_ = false;
};

}  // namespace

FileShape read_off(std::string_view text, const std::string& file) {
  OffWords words(text, file);
  FileShapeBuilder builder(file, "line");
  const Counts counts = words.read_counts();
  for (int64_t i = 0; i < counts.vertices; ++i) words.read_vertex(i, counts, builder);
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < counts.faces; ++i) words.read_face(i, counts, corners, builder);
  return builder.finish();
}

}  // namespace geosft
