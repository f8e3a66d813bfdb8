// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <array>
#include <cmath>

#include "data/data_error.h"
#include "data/formats/binary.h"

namespace geosft {
namespace {

// Byte offsets of the public header block, ASPRS LAS 1.4 R15, tables 3 and 4.
constexpr size_t las_minor_version = 25, las_header_size = 94, las_data_offset = 96, las_format = 104,
                 las_record_size = 105, las_legacy_count = 107, las_scale = 131, las_offset = 155, las_smallest = 227,
                 las_count = 247, las_header_with_count = 375;
// Sizes of the records of formats 0 to 10.
constexpr std::array<size_t, 11> las_record_sizes = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

// Byte offset of the classification in a record. Before format 6 it is 5 bits, and the others are flags.
constexpr uint8_t first_wide_format = 6;
size_t classification_offset(uint8_t format) {
  return format < first_wide_format ? 15 : 16;
}
constexpr uint8_t narrow_classification = 0x1F;

struct LasHeader {
  uint8_t format;
  size_t data, record;
  uint64_t points;
};

LasHeader read_las_header(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with("LASF") || bytes.size() < las_smallest) {
    throw DataError(file, "a LAS header, which begins with LASF",
                    bytes.starts_with("LASF") ? std::to_string(bytes.size()) + " bytes" : "something else");
  }
  const auto major = load_number<uint8_t>(bytes, las_minor_version - 1),
             minor = load_number<uint8_t>(bytes, las_minor_version);
  if (major != 1 || minor > 4) {
    throw DataError(file, "LAS 1.0 to 1.4", "LAS " + std::to_string(major) + "." + std::to_string(minor));
  }
  // The two high bits mark compressed records.
  const auto format = load_number<uint8_t>(bytes, las_format);
  if ((format & 0xC0) != 0) {
    throw DataError(file, "a LAS file", std::string("a compressed one (LAZ); ") + laz_converters);
  }
  if (format >= las_record_sizes.size()) {
    throw DataError(file, "point data record formats 0 to 10", std::to_string(format));
  }
  LasHeader header{format, load_number<uint32_t>(bytes, las_data_offset), load_number<uint16_t>(bytes, las_record_size),
                   load_number<uint32_t>(bytes, las_legacy_count)};
  const bool has_count = minor == 4 && bytes.size() >= las_header_with_count &&
                         load_number<uint16_t>(bytes, las_header_size) >= las_header_with_count;
  if (has_count) header.points = std::max(header.points, load_number<uint64_t>(bytes, las_count));
  if (header.record < las_record_sizes[format]) {
    throw DataError(file,
                    "records of " + std::to_string(las_record_sizes[format]) + " bytes or more for format " +
                        std::to_string(format),
                    std::to_string(header.record));
  }
  if (header.data < las_smallest || header.data > bytes.size() ||
      header.points > (bytes.size() - header.data) / header.record) {
    throw DataError(file,
                    std::to_string(header.points) + " points of " + std::to_string(header.record) +
                        " bytes from byte " + std::to_string(header.data),
                    std::to_string(bytes.size()) + " bytes in all");
  }
  return header;
}

}  // namespace

FileShape read_las(std::string_view bytes, const std::string& file) {
  const LasHeader header = read_las_header(bytes, file);
  std::array<double, 3> scale, offset;
  for (size_t axis = 0; axis < 3; ++axis) {
    scale[axis] = load_number<double>(bytes, las_scale + 8 * axis);
    offset[axis] = load_number<double>(bytes, las_offset + 8 * axis);
    if (!std::isfinite(scale[axis]) || scale[axis] == 0 || !std::isfinite(offset[axis])) {
      throw DataError(file, "a scale other than 0 and an offset for each axis",
                      std::to_string(scale[axis]) + " and " + std::to_string(offset[axis]));
    }
  }
  FileShapeBuilder builder(file, "point");
  builder.declare_double();
  builder.set_names({"x", "y", "z", "classification"});
  for (uint64_t i = 0; i < header.points; ++i) {
    const size_t at = header.data + i * header.record;
    std::array<double, 3> point;
    for (size_t axis = 0; axis < 3; ++axis) {
      point[axis] = load_number<int32_t>(bytes, at + 4 * axis) * scale[axis] + offset[axis];
    }
    builder.add_vertex(point[0], point[1], point[2]);
    const auto label = load_number<uint8_t>(bytes, at + classification_offset(header.format));
    builder.add_label(header.format < first_wide_format ? label & narrow_classification : label);
  }
  return builder.finish();
}

}  // namespace geosft
