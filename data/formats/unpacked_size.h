// SPDX-License-Identifier: Apache-2.0
// Limits how large compressed data may become.
#pragma once

#include <cstdint>

namespace geosft {

// Deflate packs up to 1,032 to 1. Data seldom reach 100 to 1, and where they do (labels, masks) they are small: what
// claims or becomes more is a file that was made to fill the memory.
inline constexpr uint64_t deflate_ratio = 1032;

constexpr uint64_t max_unpacked(uint64_t packed_bytes) {
  return (uint64_t{256} << 20) + 100 * packed_bytes;
}

}  // namespace geosft
