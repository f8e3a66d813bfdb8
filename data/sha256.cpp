// SPDX-License-Identifier: Apache-2.0
#include "data/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace geosft {
namespace {

// Returns the first 32 bits of the fractional part of the root of the n-th prime (n from 0).
template <size_t count>
std::array<uint32_t, count> root_bits(long double (*root)(long double)) {
  std::array<uint32_t, count> bits{};
  size_t found = 0;
  for (int number = 2; found < count; ++number) {
    bool prime = true;
    for (int divisor = 2; divisor * divisor <= number; ++divisor) prime = prime && number % divisor != 0;
    if (!prime) continue;
    const long double value = root(number);
    bits[found++] = static_cast<uint32_t>((value - std::floor(value)) * 4294967296.0L);
  }
  return bits;
}

using State = std::array<uint32_t, 8>;

void take_block(State& state, const unsigned char* block) {
  static const std::array<uint32_t, 64> constants = root_bits<64>([](long double x) { return std::cbrt(x); });
  std::array<uint32_t, 64> words{};
  for (size_t i = 0; i < 16; ++i) {
    for (size_t byte = 0; byte < 4; ++byte) words[i] = words[i] << 8 | block[4 * i + byte];
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t first =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + words[i];
    const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  State state = root_bits<8>([](long double x) { return std::sqrt(x); });
  const size_t whole = bytes.size() / 64 * 64;
  for (size_t at = 0; at < whole; at += 64) {
    take_block(state, reinterpret_cast<const unsigned char*>(bytes.data()) + at);
  }
  std::string rest(bytes.substr(whole));
  rest += '\x80';
  rest.resize((rest.size() + 8 + 63) / 64 * 64 - 8);
  const uint64_t bits = 8 * static_cast<uint64_t>(bytes.size());
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift & 0xff);
  for (size_t at = 0; at < rest.size(); at += 64) {
    take_block(state, reinterpret_cast<const unsigned char*>(rest.data()) + at);
  }
  std::string text;
  for (const uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 0xf];
  }
  return text;
}

}  // namespace geosft
