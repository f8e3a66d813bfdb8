// SPDX-License-Identifier: Apache-2.0
// Loads numbers from binary data of either byte order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace geosft {

static_assert(std::endian::native == std::endian::little, "the binary readers and checkpoints assume little endian");

// Loads the number at bytes[offset …]. The caller checks the bounds.
template <class Number>
Number load_number(std::string_view bytes, size_t offset, bool big_endian = false) {
  char raw[sizeof(Number)];
  std::memcpy(raw, bytes.data() + offset, sizeof(Number));
  if (big_endian) std::reverse(raw, raw + sizeof(Number));
  Number value;
  std::memcpy(&value, raw, sizeof(Number));
  return value;
}

}  // namespace geosft
