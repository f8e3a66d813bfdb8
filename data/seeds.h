// SPDX-License-Identifier: Apache-2.0
// Derives the seed of each random stream from its purpose, so that results do not depend on the order of calls.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace geosft {

// Mixes several numbers into one seed (splitmix64 over the sequence). The order of the numbers matters.
uint64_t combine_seeds(std::initializer_list<uint64_t> values);

// Computes the 64-bit FNV-1a hash for seeds and cache names: the same on every machine and in every version.
uint64_t text_hash(std::string_view text);

// Creates a CPU generator with this seed.
at::Generator make_generator(uint64_t seed);

}  // namespace geosft
