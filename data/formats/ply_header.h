// SPDX-License-Identifier: Apache-2.0
// Reads the header of a PLY file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };
enum class PlyEncoding { text, little_endian, big_endian };

struct PlyProperty {
  std::string name;  // in lower case, as all keywords may be in any case
  PlyType type;
  bool is_list = false;
  PlyType length_type = PlyType::uint8;  // type of a list's length
};

struct PlyElement {
  std::string name;  // in lower case
  int64_t count;
  std::vector<PlyProperty> properties;
};

struct PlyHeader {
  PlyEncoding encoding;
  std::vector<PlyElement> elements;
  size_t size;         // bytes, including end_header
  int64_t line_count;  // lines, including end_header
};

// Throws DataError, with the line. Checks counts against the bytes that follow: an element takes at least one byte.
PlyHeader read_ply_header(std::string_view bytes, const std::string& file);

}  // namespace geosft
