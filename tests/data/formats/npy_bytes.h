// SPDX-License-Identifier: Apache-2.0
// NumPy arrays that the tests make.
#pragma once

#include <string>
#include <vector>

#include "tests/data/files.h"

namespace geosft::test {

// The bytes of an array whose header holds this type, order and shape, e.g. "<f4", false, "(2, 3)".
inline std::string npy_bytes(const std::string& descr, bool fortran, const std::string& shape,
                             const std::string& data) {
  std::string header = "{'descr': " + (descr.starts_with('[') ? descr : "'" + descr + "'") +
                       ", 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  return "\x93NUMPY" + std::string("\x01\0", 2) + raw(static_cast<uint16_t>(header.size())) + header + data;
}

template <class Number>
std::string raw_all(const std::vector<double>& values, bool big_endian = false) {
  std::string bytes;
  for (const double value : values) bytes += raw(static_cast<Number>(value), big_endian);
  return bytes;
}

}  // namespace geosft::test
