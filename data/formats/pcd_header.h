// SPDX-License-Identifier: Apache-2.0
// Reads the header of a PCD file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

enum class PcdEncoding { text, binary, compressed };

struct PcdField {
  std::string name;
  int64_t size = 0;    // bytes per number: 1, 2, 4 or 8
  char type = ' ';     // F floating point, I signed, U unsigned
  int64_t count = 1;   // numbers per point
  int64_t offset = 0;  // byte offset within a point
  int64_t column = 0;  // column offset within a point
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

// Throws DataError, with the line. Checks the number of points against the bytes that follow, except for
// binary_compressed, which the caller checks.
PcdHeader read_pcd_header(std::string_view bytes, const std::string& file);

}  // namespace geosft
