// SPDX-License-Identifier: Apache-2.0
// Parses numbers in text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace geosft {

// Parses the whole `word` as a number with optional sign, possibly infinite or NaN. The exponent may be written as by
// Fortran (1.0D+00). Returns nothing if it is not a number.
std::optional<double> parse_number(std::string_view word);

// Parses the whole `word` as a 64-bit integer.
std::optional<int64_t> parse_integer(std::string_view word);

}  // namespace geosft
