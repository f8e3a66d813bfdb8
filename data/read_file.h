// SPDX-License-Identifier: Apache-2.0
// Reads files, whole or line by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// A regular file to be read. Throws DataError when it is absent, not a regular file, or cannot be read.
std::ifstream open_file(const std::filesystem::path& file);

// The bytes of a regular file. Throws DataError when it is absent, not a regular file, or cannot be read.
std::string read_file(const std::filesystem::path& file);

// The lines of a small text file that hold more than blanks, without blanks at either end. Throws DataError when the
// file cannot be read or has no such line.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// The only entry of a folder whose name ends so; empty where there is none or no folder. Throws DataError for several.
std::filesystem::path only_file(const std::filesystem::path& folder, const std::string& ending);

// Without blanks (space, tab, carriage return, line feed) at either end.
std::string_view trimmed(std::string_view text);

// Reads a text file of any size line by line; one line is in memory at a time.
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
