// SPDX-License-Identifier: Apache-2.0
// The header of a PCD file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

enum class PcdEncoding { text, binary, compressed };

struct PcdField {
  std::string name;
  int64_t size = 0;    // bytes of a number: 1, 2, 4 or 8
  char type = ' ';     // F floating point, I signed, U unsigned
  int64_t count = 1;   // numbers in a point
  int64_t offset = 0;  // bytes from the beginning of a point
  int64_t column = 0;  // numbers from the beginning of a point
};

struct PcdHeader {
  PcdEncoding encoding;
  std::vector<PcdField> fields;
  int64_t points;
  int64_t point_size;     // bytes
  int64_t point_columns;  // numbers
  size_t size;            // bytes of the header
  int64_t line_count;

  const PcdField* find(std::string_view name) const;
};

// Throws DataError, with the line. The number of points is checked against the bytes that follow, except for
// binary_compressed, where the caller checks.
PcdHeader read_pcd_header(std::string_view bytes, const std::string& file);

}  // namespace geosft
