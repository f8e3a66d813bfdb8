// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <array>

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/compression.h"
#include "data/formats/pcd_header.h"
#include "data/formats/point_labels.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

std::vector<std::string_view> field_names(const PcdHeader& header) {
  std::vector<std::string_view> names;
  for (const PcdField& field : header.fields) names.push_back(field.name);
  return names;
}

// The fields to read: three coordinates, three normals or none, and a label or none.
struct WantedFields {
  std::vector<PcdField> fields;
  bool has_normals = false, has_label = false;
};

WantedFields wanted_fields(const PcdHeader& header, const std::string& file) {
  constexpr std::array<std::string_view, 6> names = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
  constexpr std::array<std::string_view, 6> short_names = {"x", "y", "z", "nx", "ny", "nz"};
  WantedFields wanted;
  std::vector<PcdField>& fields = wanted.fields;
  for (size_t i = 0; i < names.size(); ++i) {
    const PcdField* field = header.find(names[i]);
    if (field == nullptr) field = header.find(short_names[i]);
    if (field != nullptr) fields.push_back(*field);
  }
  if (header.find("x") == nullptr || header.find("y") == nullptr || header.find("z") == nullptr) {
    throw DataError(file, "fields x, y and z", "others");
  }
  wanted.has_normals = fields.size() == names.size();
  if (!wanted.has_normals) fields.resize(3);
  for (const PcdField& field : fields) {
    if (field.count < 1) throw DataError(file, "a number of each point in \"" + field.name + "\"", "COUNT 0");
  }
  const std::optional<size_t> label = label_column(field_names(header));
  wanted.has_label = label && header.fields[*label].count > 0;
  if (wanted.has_label) fields.push_back(header.fields[*label]);
  return wanted;
}

// The values of the fields of a point, in the order of WantedFields.
using PointValues = std::array<double, 7>;

void add_point(const PointValues& value, const WantedFields& wanted, FileShapeBuilder& builder, int64_t line = 0) {
  builder.add_vertex(value[0], value[1], value[2], line);
  if (wanted.has_normals) builder.add_normal(value[3], value[4], value[5]);
  if (wanted.has_label) builder.add_label(value[wanted.fields.size() - 1]);
}

void read_text(std::string_view bytes, const PcdHeader& header, const WantedFields& wanted, const std::string& file,
               FileShapeBuilder& builder) {
  TextLines lines(bytes, file);
  lines.skip(header.line_count);
  std::vector<std::string_view> words(static_cast<size_t>(header.point_columns));
  const std::vector<PcdField>& fields = wanted.fields;
  PointValues value{};
  for (int64_t i = 0; i < header.points; ++i) {
    if (!lines.next()) lines.fail(std::to_string(header.points) + " points", "only " + std::to_string(i));
    for (std::string_view& word : words) word = lines.word();
    lines.end_of_line("the fields of a point");
    for (size_t f = 0; f < fields.size(); ++f) {
      value[f] = lines.to_any_number(words[static_cast<size_t>(fields[f].column)], "a coordinate");
    }
    add_point(value, wanted, builder, lines.line_number());
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
void read_numbers(std::string_view data, const PcdHeader& header, const WantedFields& wanted, bool by_field,
                  FileShapeBuilder& builder) {
  const std::vector<PcdField>& fields = wanted.fields;
  PointValues value{};
  for (int64_t i = 0; i < header.points; ++i) {
    for (size_t f = 0; f < fields.size(); ++f) {
      const int64_t at = by_field ? fields[f].offset * header.points + i * fields[f].size * fields[f].count
                                  : i * header.point_size + fields[f].offset;
      value[f] = load_field(data, static_cast<size_t>(at), fields[f]);
    }
    add_point(value, wanted, builder);
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
  const WantedFields wanted = wanted_fields(header, file);
  const std::vector<PcdField>& fields = wanted.fields;
  FileShapeBuilder builder(file, "point");
  builder.set_names(field_names(header));
  if (fields[0].size == 8 || fields[1].size == 8 || fields[2].size == 8) builder.declare_double();
  const std::string_view data = bytes.substr(header.size);
  if (header.encoding == PcdEncoding::text) {
    read_text(bytes, header, wanted, file, builder);
  } else if (header.encoding == PcdEncoding::binary) {
    read_numbers(data, header, wanted, false, builder);
  } else {
    read_numbers(decompress(data, header, file), header, wanted, true, builder);
  }
  return builder.finish();
}

}  // namespace geosft
