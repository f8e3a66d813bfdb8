// SPDX-License-Identifier: Apache-2.0
#include "data/formats/pcd_header.h"

#include <cctype>
#include <limits>

#include "data/data_error.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

// Limit far above any real header that prevents overflow of the sums below.
constexpr int64_t max_numbers = 1 << 20;

PcdField& field_at(PcdHeader& header, size_t i, const TextLines& lines) {
  if (i >= header.fields.size()) lines.fail(std::to_string(header.fields.size()) + " fields as in FIELDS", "more");
  return header.fields[i];
}

void read_field_line(const std::string& keyword, TextLines& lines, PcdHeader& header) {
  size_t i = 0;
  for (std::string_view word = lines.word(); !word.empty(); word = lines.word(), ++i) {
    if (keyword == "fields" || keyword == "columns") {
      header.fields.emplace_back().name = lower_case(word);
    } else if (keyword == "type") {
      field_at(header, i, lines).type = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
    } else if (keyword == "size") {
      field_at(header, i, lines).size = lines.to_integer(word, "the size of a field");
    } else {
      field_at(header, i, lines).count = lines.to_integer(word, "the number of elements of a field");
    }
  }
}

void lay_out_fields(PcdHeader& header, const std::string& file) {
  if (header.fields.empty()) throw DataError(file, "a line FIELDS", "none");
  for (PcdField& field : header.fields) {
    const bool known_size = field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
    const bool known_type = field.type == 'I' || field.type == 'U' || (field.type == 'F' && field.size >= 4);
    if (!known_size || !known_type || field.count < 0 || field.count > max_numbers) {
      throw DataError(file, "a field with TYPE F, I or U, a SIZE that goes with it, and a COUNT",
                      "\"" + field.name + "\" of TYPE '" + field.type + "', SIZE " + std::to_string(field.size) +
                          " and COUNT " + std::to_string(field.count));
    }
    field.offset = header.point_size;
    field.column = header.point_columns;
    header.point_size += field.size * field.count;
    header.point_columns += field.count;
  }
  if (header.point_columns == 0) throw DataError(file, "a field with a COUNT of 1 or more", "none");
}

void check_points(const PcdHeader& header, int64_t width, int64_t height, size_t total, const std::string& file) {
  const auto left = static_cast<int64_t>(total - header.size);
  // A number takes at least two bytes of text ("0 "), the last one in the file one byte.
  const bool is_text = header.encoding == PcdEncoding::text;
  const int64_t maximum = is_text ? (left + 1) / (2 * header.point_columns) : left / header.point_size;
  const bool fits = header.encoding == PcdEncoding::compressed || header.points <= maximum;
  if (header.points < 1 || !fits) {
    throw DataError(file, "points that fit into the " + std::to_string(left) + " bytes after the header",
                    std::to_string(header.points) + " points");
  }
  if (width > 0 && (height < 1 || header.points % width != 0 || header.points / width != height)) {
    throw DataError(file, "WIDTH x HEIGHT = POINTS",
                    std::to_string(width) + " x " + std::to_string(height) + " and " + std::to_string(header.points));
  }
}

PcdEncoding read_pcd_encoding(TextLines& lines) {
  static constexpr std::pair<std::string_view, PcdEncoding> encodings[] = {
      {"ascii", PcdEncoding::text}, {"binary", PcdEncoding::binary}, {"binary_compressed", PcdEncoding::compressed}};
  return lines.named(encodings, "DATA ascii, binary or binary_compressed");
}

}  // namespace

const PcdField* PcdHeader::find(std::string_view name) const {
  for (const PcdField& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

PcdHeader read_pcd_header(std::string_view bytes, const std::string& file) {
  TextLines lines(bytes, file);
  PcdHeader header{};
  int64_t width = 0, height = 1;
  bool is_pcd = false, has_points = false;
  for (bool in_header = true; in_header;) {
    if (!lines.next()) lines.fail_word("a line DATA", {});
    const std::string_view word = lines.word();
    const std::string keyword = lower_case(word);
    if (keyword == "fields" || keyword == "columns" || keyword == "type" || keyword == "size" || keyword == "count") {
      read_field_line(keyword, lines, header);
    } else if (keyword == "width") {
      width = lines.integer("a number of points");
    } else if (keyword == "height") {
      height = lines.integer("a number of rows");
    } else if (keyword == "points") {
      header.points = lines.integer("a number of points");
      has_points = true;
    } else if (keyword == "data") {
      header.encoding = read_pcd_encoding(lines);
      in_header = false;
    } else if (keyword != "version" && keyword != "viewpoint" && !is_pcd) {
      lines.fail_word("a keyword of a PCD header", word);
    }
    is_pcd = true;
  }
  header.size = lines.next_line_offset();
  header.line_count = lines.line_number();
  lay_out_fields(header, file);
  if (!has_points && width > 0 && height > 0 && width <= std::numeric_limits<int64_t>::max() / height) {
    header.points = width * height;
  }
  check_points(header, width, height, bytes.size(), file);
  return header;
}

}  // namespace geosft
