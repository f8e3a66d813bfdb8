// SPDX-License-Identifier: Apache-2.0
// Text files that are larger than what is made of them, line by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace geosft {

// One line of a file in memory at a time.
class LineStream {
 public:
  // Throws DataError when the file is absent, not a regular file, or cannot be read; so does next().
  explicit LineStream(const std::filesystem::path& file);

  // Goes to the next line that holds more than blanks. False at the end of the file.
  bool next();
  // That line without blanks at either end.
  std::string_view line() const;

  // Throws DataError naming the file and the line.
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::string line_;
  int64_t number_ = 0;
};

}  // namespace geosft
