// SPDX-License-Identifier: Apache-2.0
// Formats numbers for files that are read again.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace geosft {

// Returns the shortest text that is this number and no other of its type: 1 rather than 1.0; "nan" for NaN.
template <class Number>
std::string shortest_text(Number value) {
  std::array<char, 64> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace geosft
