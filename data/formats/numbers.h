// SPDX-License-Identifier: Apache-2.0
// Numbers in text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace geosft {

// The whole of `word` as a number, with or without a sign; it may be infinite or NaN. Nothing when it is none.
std::optional<double> parse_number(std::string_view word);

// The whole of `word` as an integer of 64 bits.
std::optional<int64_t> parse_integer(std::string_view word);

}  // namespace geosft
