// SPDX-License-Identifier: Apache-2.0
#include "data/formats/stl.h"

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

constexpr size_t header_size = 84, facet_size = 50, first_corner = 12, corner_size = 12;

bool is_binary(std::string_view bytes) {
  return bytes.size() >= header_size &&
         bytes.size() == header_size + facet_size * size_t{load_number<uint32_t>(bytes, header_size - 4)};
}

FileShape read_binary(std::string_view bytes, const std::string& file) {
  FileShapeBuilder builder(file, "facet");
  for (size_t facet = header_size; facet < bytes.size(); facet += facet_size) {
    const int64_t first = builder.vertex_count();
    for (size_t corner = 0; corner < 3; ++corner) {
      const size_t at = facet + first_corner + corner * corner_size;
      builder.add_vertex(load_number<float>(bytes, at), load_number<float>(bytes, at + 4),
                         load_number<float>(bytes, at + 8));
    }
    builder.add_polygon({first, first + 1, first + 2}, builder.triangle_count() + 1);
  }
  return builder.finish(true);
}

FileShape read_text(std::string_view bytes, const std::string& file) {
  TextLines lines(bytes, file);
  FileShapeBuilder builder(file, "line");
  std::vector<int64_t> corners;
  bool in_solid = false;
  while (lines.next()) {
    const std::string_view keyword = lines.word();
    if (keyword == "vertex") {
      const double x = lines.number("a coordinate"), y = lines.number("a coordinate"), z = lines.number("a coordinate");
      corners.push_back(builder.vertex_count());
      builder.add_vertex(x, y, z);
    } else if (keyword == "endfacet") {
      builder.add_polygon(corners, lines.line_number());
      corners.clear();
    } else if (keyword == "solid" || keyword == "endsolid") {
      in_solid = keyword == "solid";
    } else if (keyword != "facet" && keyword != "outer" && keyword != "endloop") {
      lines.fail_word("a keyword of STL", keyword);
    }
  }
  if (in_solid || !corners.empty()) lines.fail("endsolid", "the end of the file");
  return builder.finish(true);
}

}  // namespace

FileShape read_stl(std::string_view bytes, const std::string& file) {
  if (is_binary(bytes)) return read_binary(bytes, file);
  if (bytes.substr(0, 5) == "solid") return read_text(bytes, file);
  if (bytes.size() < header_size) {
    throw DataError(file, "\"solid\" or a header of 84 bytes", std::to_string(bytes.size()) + " bytes");
  }
  const size_t count = load_number<uint32_t>(bytes, header_size - 4);
  throw DataError(file,
                  std::to_string(header_size + facet_size * count) + " bytes for " + std::to_string(count) + " facets",
                  std::to_string(bytes.size()));
}

}  // namespace geosft
