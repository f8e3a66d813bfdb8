// SPDX-License-Identifier: Apache-2.0
#include "data/formats/text_lines.h"

#include <charconv>
#include <cstdlib>
#include <string>

namespace geosft {
namespace {

// Removes a leading plus, which some programs write and std::from_chars rejects.
std::string_view without_plus(std::string_view word) {
  return word.size() > 1 && word[0] == '+' && word[1] != '-' ? word.substr(1) : word;
}

// Returns a number with a Fortran exponent, 1.0D+00, with an E in place of the D; an empty text for another word.
std::string with_c_exponent(std::string_view word) {
  const size_t letter = word.find_first_of("dD");
  if (letter == word.npos || letter == 0 || word.find_first_not_of("+-0123456789.") != letter) return {};
  std::string number(word);
  number[letter] = 'e';
  return number;
}

}  // namespace

std::optional<double> parse_number(std::string_view word) {
  const std::string_view digits = without_plus(word);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size()) {
    const std::string fortran = with_c_exponent(digits);
    return fortran.empty() ? std::nullopt : parse_number(fortran);
  }
  // Underflow gives 0 or a subnormal, overflow infinity.
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(digits).c_str(), nullptr);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> parse_integer(std::string_view word) {
  const std::string_view digits = without_plus(word);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace geosft
