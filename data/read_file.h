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

// Opens a regular file. Throws DataError when it is absent, not a regular file, or cannot be read.
std::ifstream open_file(const std::filesystem::path& file);

// Returns the bytes of a regular file. Throws DataError when it is absent, not a regular file, or cannot be read.
std::string read_file(const std::filesystem::path& file);

// Returns the first `size` bytes of a regular file, fewer if it is shorter. Throws DataError as above.
std::string file_head(const std::filesystem::path& file, size_t size);

// Returns the non-blank lines of a small text file, trimmed. Throws DataError if the file cannot be read, is no text in
// UTF-8 (require_plain_text), or has no such line.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// Returns the only entry of a folder whose name has this ending; empty if there is no such entry or no folder. Throws
// DataError for several.
std::filesystem::path only_file(const std::filesystem::path& folder, const std::string& ending);

// Blanks within a line. Trailing NUL and Ctrl-Z are left by programs that write files in blocks.
inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0' || c == '\x1a';
}

// Removes blanks and line feeds at both ends.
std::string_view trimmed(std::string_view text);

// Removes the UTF-8 byte-order mark at the beginning of a text.
std::string_view without_byte_order_mark(std::string_view text);

// Reads a text file of any size, holding one line in memory at a time.
class LineStream {
 public:
  // Throws DataError when the file is absent, not a regular file, cannot be read, or is no text in UTF-8
  // (require_plain_text); so does next().
  explicit LineStream(const std::filesystem::path& file);

  // Advances to the next non-blank line. Returns false at the end of the file.
  bool next();
  // Returns the current line, trimmed.
  std::string_view line() const;
  // Returns the current line with its blanks, without the end of the line.
  std::string_view whole_line() const;

  // Throws DataError naming the file and the line.
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::string line_;
  int64_t number_ = 0;
};

}  // namespace geosft
