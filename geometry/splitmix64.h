// SPDX-License-Identifier: Apache-2.0
// The finaliser of splitmix64, for seeds and hashes.
#pragma once

#include <cstdint>

#include "geometry/host_device.h"

namespace geosft {

// Maps 64 bits to 64 bits, one to one, such that each bit of the result depends on all bits of the argument (Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", 2014, with the constants of Vigna's splitmix64).
GEOSFT_HOST_DEVICE inline uint64_t splitmix64_finalizer(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace geosft
