// SPDX-License-Identifier: Apache-2.0
// Words and numbers of a text file, line by line, with errors that name the line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace geosft {

// Words are separated by blanks and by the characters of `extra_separators`; '#' begins a comment. Views the text.
class TextLines {
 public:
  TextLines(std::string_view text, std::string file, std::string_view extra_separators = "")
      : text_(text), file_(std::move(file)), extra_separators_(extra_separators) {}

  // Goes to the next line that holds a word. False at the end of the text.
  bool next();
  // Goes to the line directly below, whatever it holds. False at the end of the text.
  bool next_raw();
  // Passes over whole lines; no word is left of the last of them.
  void skip(int64_t lines);
  // The next word of the line, empty at its end.
  std::string_view word();
  // The next word as a finite number, or as an integer; `what` says in the message what was expected.
  double number(const char* what);
  int64_t integer(const char* what);
  // A whole word as an integer or a finite number.
  int64_t to_integer(std::string_view word, const char* what) const;
  double to_number(std::string_view word, const char* what) const;
  // Requires that the line is used up.
  void end_of_line(const char* what);
  // The rest of the line without blanks at either end, comments included.
  std::string_view rest() const;
  int64_t line_number() const { return line_number_; }
  size_t bytes_left() const { return text_.size() - next_line_; }
  // Byte where the line below begins.
  size_t next_line_offset() const { return next_line_; }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;
  // fail() with a quoted word, or with the end of the line or the file where there is none.
  [[noreturn]] void fail_word(const std::string& expected, std::string_view word) const;

 private:
  std::string_view text_;
  std::string file_;
  std::string_view extra_separators_;
  std::string_view line_;  // what is left of the current line
  size_t next_line_ = 0;
  int64_t line_number_ = 0;
  bool at_end_ = false;
};

}  // namespace geosft
