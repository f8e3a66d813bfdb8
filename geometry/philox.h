// SPDX-License-Identifier: Apache-2.0
// Implements Philox 4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3" (SC 2011): a number is a function of (key, counter) alone, so results do not depend on threads, batches or
// devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "geometry/host_device.h"

namespace geosft {

struct PhiloxBlock {
  uint32_t word[4];

  // Return words 0 and 1 as one number, words 2 and 3 as another.
  GEOSFT_HOST_DEVICE uint64_t first() const { return static_cast<uint64_t>(word[0]) << 32 | word[1]; }
  GEOSFT_HOST_DEVICE uint64_t second() const { return static_cast<uint64_t>(word[2]) << 32 | word[3]; }
};

// Returns the block of 128 random bits of (seed; row, stream).
GEOSFT_HOST_DEVICE inline PhiloxBlock philox(uint64_t seed, uint64_t row, uint64_t stream) {
  PhiloxBlock block{{static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32), static_cast<uint32_t>(stream),
                     static_cast<uint32_t>(stream >> 32)}};
  uint32_t key0 = static_cast<uint32_t>(seed);
  uint32_t key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = 0xD2511F53ull * block.word[0];
    const uint64_t product1 = 0xCD9E8D57ull * block.word[2];
    block = {{static_cast<uint32_t>(product1 >> 32) ^ block.word[1] ^ key0, static_cast<uint32_t>(product1),
              static_cast<uint32_t>(product0 >> 32) ^ block.word[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return block;
}

// Returns a number in the open interval (0, 1) from the upper 52 bits. With 53 bits, adding one half would round the
// largest number to 1.
GEOSFT_HOST_DEVICE inline double open_uniform(uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * (1.0 / 4503599627370496.0);
}

// Returns a number in the open interval (low, high) from 64 random bits; low if low equals high.
GEOSFT_HOST_DEVICE inline double uniform_between(double low, double high, uint64_t bits) {
  return low + (high - low) * open_uniform(bits);
}

// Two independent samples of the standard normal distribution (Box and Muller 1958), never both 0.
struct NormalPair {
  double first, second;
};
GEOSFT_HOST_DEVICE inline NormalPair normal_pair(const PhiloxBlock& block) {
  constexpr double turn = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log(open_uniform(block.first())));
  const double angle = turn * open_uniform(block.second());
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// Returns a sample of Gumbel(0, 1) from 64 random bits.
GEOSFT_HOST_DEVICE inline double gumbel(uint64_t bits) {
  return -std::log(-std::log(open_uniform(bits)));
}

}  // namespace geosft
