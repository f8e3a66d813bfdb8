// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <array>

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/compression.h"
#include "data/formats/pcd_header.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

// Returns the fields to read: three coordinates, and three normals or none.
std::vector<PcdField> wanted_fields(const PcdHeader& header, const std::string& file) {
  constexpr std::array<std::string_view, 6> names = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
  constexpr std::array<std::string_view, 6> short_names = {"x", "y", "z", "nx", "ny", "nz"};
  std::vector<PcdField> fields;
  for (size_t i = 0; i < names.size(); ++i) {
    const PcdField* field = header.find(names[i]);
    if (field == nullptr) field = header.find(short_names[i]);
    if (field != nullptr) fields.push_back(*field);
  }
  if (header.find("x") == nullptr || header.find("y") == nullptr || header.find("z") == nullptr) {
    throw DataError(file, "fields x, y and z", "others");
  }
  if (fields.size() < names.size()) fields.resize(3);
  for (const PcdField& field : fields) {
    if (field.count < 1) throw DataError(file, "a number of each point in \"" + field.name + "\"", "COUNT 0");
  }
  return fields;
}

void add_point(const std::array<double, 6>& value, bool has_normals, FileShapeBuilder& builder, int64_t line = 0) {
  builder.add_vertex(value[0], value[1], value[2], line);
  if (has_normals) builder.add_normal(value[3], value[4], value[5]);
}

void read_text(std::string_view bytes, const PcdHeader& header, const std::vector<PcdField>& fields,
               const std::string& file, FileShapeBuilder& builder) {
  TextLines lines(bytes, file);
  lines.skip(header.line_count);
  std::vector<std::string_view> words(static_cast<size_t>(header.point_columns));
  std::array<double, 6> value{};
  for (int64_t i = 0; i < header.points; ++i) {
    if (!lines.next()) lines.fail(std::to_string(header.points) + " points", "only " + std::to_string(i));
    for (std::string_view& word : words) word = lines.word();
    lines.end_of_line("the fields of a point");
    for (size_t f = 0; f < fields.size(); ++f) {
      value[f] = lines.to_any_number(words[static_cast<size_t>(fields[f].column)], "a coordinate");
    }
    add_point(value, fields.size() == 6, builder, lines.line_number());
  }
}

double load_field(std::string_view bytes, size_t at, const PcdField& field) {
  if (field.type == 'F') return field.size == 4 ? load_number<float>(bytes, at) : load_number<double>(bytes, at);
  const bool is_signed = field.type == 'I';
  switch (field.size) {
    case 1:
      return is_signed ? double(load_number<int8_t>(bytes, at)) : double(load_number<uint8_t>(bytes, at));
    case 2:
      return is_signed ? double(load_number<int16_t>(bytes, at)) : double(load_number<uint16_t>(bytes, at));
    case 4:
      return is_signed ? double(load_number<int32_t>(bytes, at)) : double(load_number<uint32_t>(bytes, at));
    default:
      return is_signed ? double(load_number<int64_t>(bytes, at)) : double(load_number<uint64_t>(bytes, at));
  }
}

// Binary data are stored point by point; unpacked compressed data field by field.
void read_numbers(std::string_view data, const PcdHeader& header, const std::vector<PcdField>& fields, bool by_field,
                  FileShapeBuilder& builder) {
  std::array<double, 6> value{};
  for (int64_t i = 0; i < header.points; ++i) {
    for (size_t f = 0; f < fields.size(); ++f) {
      const int64_t at = by_field ? fields[f].offset * header.points + i * fields[f].size * fields[f].count
                                  : i * header.point_size + fields[f].offset;
      value[f] = load_field(data, static_cast<size_t>(at), fields[f]);
    }
    add_point(value, fields.size() == 6, builder);
  }
}

std::string decompress(std::string_view data, const PcdHeader& header, const std::string& file) {
  if (data.size() < 8) throw DataError(file, "the sizes of the compressed data", "the end of the file");
  const size_t packed = load_number<uint32_t>(data, 0), unpacked = load_number<uint32_t>(data, 4);
  if (packed > data.size() - 8) {
    throw DataError(file, std::to_string(packed) + " bytes of compressed data", std::to_string(data.size() - 8));
  }
  // Checked by division: the product could overflow for an invalid header.
  const auto size = static_cast<int64_t>(unpacked);
  if (size % header.point_size != 0 || size / header.point_size != header.points) {
    throw DataError(file, std::to_string(header.points) + " points of " + std::to_string(header.point_size) + " bytes",
                    std::to_string(unpacked) + " bytes in all");
  }
  std::optional<std::string> result = decompress_lzf(data.substr(8, packed), unpacked);
  if (!result) throw DataError(file, "LZF data that unpack to " + std::to_string(unpacked) + " bytes", "damaged data");
  return std::move(*result);
}

}  // namespace

FileShape read_pcd(std::string_view bytes, const std::string& file) {
  const PcdHeader header = read_pcd_header(bytes, file);
  const std::vector<PcdField> fields = wanted_fields(header, file);
  FileShapeBuilder builder(file, "point");
  if (fields[0].size == 8 || fields[1].size == 8 || fields[2].size == 8) builder.declare_double();
  const std::string_view data = bytes.substr(header.size);
  if (header.encoding == PcdEncoding::text) {
    read_text(bytes, header, fields, file, builder);
  } else if (header.encoding == PcdEncoding::binary) {
    read_numbers(data, header, fields, false, builder);
  } else {
    read_numbers(decompress(data, header, file), header, fields, true, builder);
  }
  return builder.finish();
}

}  // namespace geosft
