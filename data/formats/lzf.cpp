// SPDX-License-Identifier: Apache-2.0
#include "data/formats/compression.h"

#include <cstdint>

namespace geosft {

// A control byte c below 32 is followed by c + 1 literal bytes. Otherwise its upper 3 bits are the length of a copy
// minus 2 (7: the next byte is added), and its lower 5 bits with the following byte are the distance back minus 1.
std::optional<std::string> decompress_lzf(std::string_view packed, size_t size) {
  constexpr size_t largest_ratio = 132;  // a 3-byte copy yields at most 264 bytes; rounded up
  if (size > packed.size() * largest_ratio) return std::nullopt;
  std::string out;
  out.reserve(size);
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(packed[at])); };
  for (size_t at = 0; at < packed.size();) {
    const size_t control = byte(at++);
    if (control < 32) {
      const size_t count = control + 1;
      if (count > packed.size() - at || count > size - out.size()) return std::nullopt;
      out.append(packed.substr(at, count));
      at += count;
      continue;
    }
    const bool is_long = control >> 5 == 7;
    if (packed.size() - at < (is_long ? 2u : 1u)) return std::nullopt;
    const size_t count = (control >> 5) + 2 + (is_long ? byte(at++) : 0);
    const size_t distance = ((control & 31) << 8) + byte(at++) + 1;
    if (distance > out.size() || count > size - out.size()) return std::nullopt;
    // Byte by byte, because source and destination may overlap.
    for (size_t i = 0; i < count; ++i) out.push_back(out[out.size() - distance]);
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

}  // namespace geosft
