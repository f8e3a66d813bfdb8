// SPDX-License-Identifier: Apache-2.0
// Defines the error that every reader throws.
#pragma once

#include <stdexcept>
#include <string>

namespace geosft {

// Reports an unusable file. The message names the file, what was expected and what was found.
class DataError : public std::runtime_error {
 public:
  DataError(const std::string& file, const std::string& expected, const std::string& found)
      : std::runtime_error(file + ": expected " + expected + ", found " + found) {}
  // `text`: the whole message.
  explicit DataError(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace geosft
