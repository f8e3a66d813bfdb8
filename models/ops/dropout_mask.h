// SPDX-License-Identifier: Apache-2.0
// Computes the dropout mask, a function of (seed, position) that is the same on every device.
#pragma once

#include <cstdint>

#include "geometry/splitmix64.h"

namespace geosft {

inline constexpr int64_t kDropoutLanes = 4;  // elements decided by one 64-bit number

// Applies splitmix64 to a counter: cheap, and mixed well enough that masks show no pattern.
GEOSFT_HOST_DEVICE inline uint64_t dropout_bits(uint64_t seed, uint64_t group) {
  return splitmix64_finalizer(seed + (group + 1) * 0x9E3779B97F4A7C15ull);
}

// Probabilities have steps of 2^-16: an element is dropped if its 16 bits are below the threshold.
GEOSFT_HOST_DEVICE inline bool dropped(uint64_t bits, int64_t lane, uint64_t threshold) {
  return ((bits >> (16 * lane)) & 0xFFFF) < threshold;
}

struct DropoutScale {
  uint64_t threshold;
  double kept;  // factor of the elements that are kept
};
inline DropoutScale dropout_scale(double probability) {
  const uint64_t threshold = static_cast<uint64_t>(probability * 65536.0);
  return {threshold, 65536.0 / (65536.0 - static_cast<double>(threshold))};
}

}  // namespace geosft
