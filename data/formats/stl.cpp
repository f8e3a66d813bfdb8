// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <algorithm>

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

constexpr size_t header_size = 84, facet_size = 50, first_corner = 12, corner_size = 12;

size_t end_of_facets(std::string_view bytes) {
  return header_size + facet_size * size_t{load_number<uint32_t>(bytes, header_size - 4)};
}

bool begins_as_text(std::string_view bytes) {
  bytes = without_byte_order_mark(bytes);
  return lower_case(trimmed(bytes.substr(0, 1000)).substr(0, 5)) == "solid";
}

bool is_printable(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) { return c >= ' ' || (c >= '\t' && c <= '\r'); });
}

FileShape read_binary(std::string_view bytes, const std::string& file) {
  FileShapeBuilder builder(file, "facet");
  for (size_t facet = header_size; facet < end_of_facets(bytes); facet += facet_size) {
    const int64_t first = builder.vertex_count();
    for (size_t corner = 0; corner < 3; ++corner) {
      const size_t at = facet + first_corner + corner * corner_size;
      builder.add_vertex(load_number<float>(bytes, at), load_number<float>(bytes, at + 4),
                         load_number<float>(bytes, at + 8));
    }
    builder.add_polygon({first, first + 1, first + 2}, builder.triangle_count() + 1);
  }
  return builder.finish();
}

// Reads words wherever they are in a line. The name of a solid, the components of a normal, and lines that follow a
// solid and begin with no keyword are passed over.
class StlText {
 public:
  StlText(std::string_view bytes, const std::string& file) : lines_(bytes, file), builder_(file, "line") {}

  FileShape read() {
    while (true) {
      const std::string_view word = next_word();
      if (word.empty()) break;
      const std::string keyword = joined_keyword(word);
      if (keyword == "vertex") {
        read_vertex();
      } else if (keyword == "endfacet") {
        builder_.add_polygon(corners_, lines_.line_number());
        corners_.clear();
      } else if (keyword == "solid" || keyword == "endsolid") {
        in_solid_ = keyword == "solid";
        lines_.pass_line();
      } else if (keyword == "color") {
        lines_.pass_line();
      } else if (keyword == "normal") {
        for (int axis = 0; axis < 3; ++axis) next_word();
      } else if (keyword != "facet" && keyword != "outer" && keyword != "loop" && keyword != "endloop") {
        if (in_solid_) lines_.fail_word("a keyword of STL", word);
        lines_.pass_line();
      }
    }
    if (in_solid_ || !corners_.empty()) lines_.fail("endsolid", "the end of the file");
    return builder_.finish();
  }

 private:
  std::string_view next_word() {
    std::string_view word = lines_.word();
    while (word.empty() && lines_.next()) word = lines_.word();
    return word;
  }
  // Returns the keyword in lower case; "end facet" counts as "endfacet".
  std::string joined_keyword(std::string_view word) {
    const std::string keyword = lower_case(word);
    return keyword == "end" ? keyword + lower_case(lines_.word()) : keyword;
  }
  void read_vertex() {
    const double x = lines_.any_number("a coordinate"), y = lines_.any_number("a coordinate");
    corners_.push_back(builder_.vertex_count());
    builder_.add_vertex(x, y, lines_.any_number("a coordinate"), lines_.line_number());
  }

  TextLines lines_;
  FileShapeBuilder builder_;
  std::vector<int64_t> corners_;
  bool in_solid_ = false;
};

}  // namespace

FileShape read_stl(std::string_view bytes, const std::string& file) {
  const bool has_header = bytes.size() >= header_size;
  if (has_header && bytes.size() == end_of_facets(bytes)) return read_binary(bytes, file);
  if (begins_as_text(bytes)) return StlText(bytes, file).read();
  if (!has_header || is_printable(bytes.substr(0, header_size))) {
    throw DataError(file, "\"solid\" or a binary header of 84 bytes",
                    has_header ? "other text" : std::to_string(bytes.size()) + " bytes");
  }
  if (bytes.size() > end_of_facets(bytes)) return read_binary(bytes, file);
  throw DataError(file,
                  std::to_string(end_of_facets(bytes)) + " bytes for " +
                      std::to_string(load_number<uint32_t>(bytes, header_size - 4)) + " facets",
                  std::to_string(bytes.size()));
}

}  // namespace geosft
