// SPDX-License-Identifier: Apache-2.0
// Derives the seed of each random stream from its purpose, so that results do not depend on the order of calls.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace geosft {

// One well-mixed seed from several numbers (splitmix64 over the sequence); the order of the numbers counts.
uint64_t combine_seeds(std::initializer_list<uint64_t> values);

// FNV-1a, 64 bits: the same on every machine and in every version, for seeds and cache names.
uint64_t text_hash(std::string_view text);

// A CPU generator that starts from this seed.
at::Generator make_generator(uint64_t seed);

}  // namespace geosft
