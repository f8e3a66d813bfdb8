// SPDX-License-Identifier: Apache-2.0
#include "data/formats/ply_header.h"

#include <string_view>
#include <utility>

#include "data/data_error.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

PlyType read_type(TextLines& lines) {
  static constexpr std::pair<std::string_view, PlyType> types[] = {
      {"char", PlyType::int8},      {"int8", PlyType::int8},       {"uchar", PlyType::uint8},
      {"uint8", PlyType::uint8},    {"short", PlyType::int16},     {"int16", PlyType::int16},
      {"ushort", PlyType::uint16},  {"uint16", PlyType::uint16},   {"int", PlyType::int32},
      {"int32", PlyType::int32},    {"uint", PlyType::uint32},     {"uint32", PlyType::uint32},
      {"float", PlyType::float32},  {"float32", PlyType::float32}, {"double", PlyType::float64},
      {"float64", PlyType::float64}};
  return lines.named(types, "a type of PLY such as float or int");
}

PlyEncoding read_ply_encoding(TextLines& lines) {
  static constexpr std::pair<std::string_view, PlyEncoding> encodings[] = {
      {"ascii", PlyEncoding::text},
      {"binary_little_endian", PlyEncoding::little_endian},
      {"binary_big_endian", PlyEncoding::big_endian}};
  return lines.named(encodings, "ascii, binary_little_endian or binary_big_endian");
}

PlyProperty read_property(TextLines& lines) {
  PlyProperty property;
  TextLines after_list = lines;
  if (lower_case(after_list.word()) == "list") {
    lines = after_list;
    property.is_list = true;
    property.length_type = read_type(lines);
  }
  property.type = read_type(lines);
  property.name = lower_case(lines.word());
  if (property.name.empty()) lines.fail_word("the name of a property", {});
  return property;
}

void check_counts(const PlyHeader& header, size_t total, const std::string& file) {
  for (const PlyElement& element : header.elements) {
    const bool possible = element.count >= 0 && element.count <= static_cast<int64_t>(total - header.size);
    if (element.count != 0 && (element.properties.empty() || !possible)) {
      throw DataError(file,
                      "elements \"" + element.name + "\" with properties, in " + std::to_string(total - header.size) +
                          " bytes after the header",
                      std::to_string(element.count) + " elements of " + std::to_string(element.properties.size()) +
                          " properties" +
                          (element.count > 0 && !element.properties.empty() ? ": the file ends too early" : ""));
    }
  }
}

}  // namespace

PlyHeader read_ply_header(std::string_view bytes, const std::string& file) {
  TextLines lines(bytes, file);
  if (!lines.next() || lower_case(lines.word()) != "ply") lines.fail("a first line \"ply\"", "something else");
  PlyHeader header{};
  bool has_format = false;
  while (true) {
    if (!lines.next()) lines.fail_word("end_header", {});
    const std::string_view word = lines.word();
    const std::string keyword = lower_case(word);
    if (keyword == "end_header") break;
    if (keyword == "format") {
      header.encoding = read_ply_encoding(lines);
      has_format = true;
    } else if (keyword == "element") {
      const std::string name = lower_case(lines.word());
      header.elements.push_back({name, lines.integer("the number of elements"), {}});
    } else if (keyword == "property") {
      if (header.elements.empty()) lines.fail("an element before its properties", "a property");
      header.elements.back().properties.push_back(read_property(lines));
    } else if (keyword != "comment" && keyword != "obj_info") {
      lines.fail_word("a keyword of a PLY header", word);
    }
  }
  if (!has_format) lines.fail("a line \"format\" in the header", "none");
  header.size = lines.next_line_offset();
  header.line_count = lines.line_number();
  check_counts(header, bytes.size(), file);
  return header;
}

}  // namespace geosft
