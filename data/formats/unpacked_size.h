// SPDX-License-Identifier: Apache-2.0
// Limits the unpacked size of compressed data.
#pragma once

#include <cstdint>

namespace geosft {

// Deflate compresses at most 1,032 to 1. Real data seldom exceed 100 to 1, and those that do (labels, masks) are small.
// A file that unpacks to more is assumed to be crafted to exhaust memory.
inline constexpr uint64_t deflate_ratio = 1032;

constexpr uint64_t max_unpacked(uint64_t packed_bytes) {
  return (uint64_t{256} << 20) + 100 * packed_bytes;
}

}  // namespace geosft
