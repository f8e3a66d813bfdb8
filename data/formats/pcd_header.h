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
  std::string name;    // in lower case
  int64_t size = 4;    // bytes per number: 1, 2, 4 or 8; this and the next two are the values of version 0.5
  char type = 'F';     // F floating point, I signed, U unsigned
  int64_t count = 1;   // numbers per point; 0 for a field without data
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

// Keywords may be in any case, and those that are unknown are ignored after a known one. POINTS may be absent if WIDTH
// is not. Throws DataError, with the line. Checks the number of points against the bytes that follow, except for
// binary_compressed, which the caller checks.
PcdHeader read_pcd_header(std::string_view bytes, const std::string& file);

}  // namespace geosft
