// SPDX-License-Identifier: Apache-2.0
#include "data/seeds.h"

#include <ATen/CPUGeneratorImpl.h>

#include "geometry/splitmix64.h"

namespace geosft {

uint64_t combine_seeds(std::initializer_list<uint64_t> values) {
  uint64_t state = 0;
  for (const uint64_t value : values) {
    state = splitmix64_finalizer((state ^ value) + 0x9e3779b97f4a7c15u);
  }
  return state;
}

uint64_t text_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

at::Generator make_generator(uint64_t seed) {
  return at::detail::createCPUGenerator(seed);
}

}  // namespace geosft
