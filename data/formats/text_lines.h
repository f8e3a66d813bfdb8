// SPDX-License-Identifier: Apache-2.0
// Parses words and numbers of a text file line by line, with errors that name the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "data/read_file.h"

namespace geosft {

// Returns `text` with ASCII capitals in lower case.
std::string lower_case(std::string_view text);

// Words are separated by blanks and the characters of `extra_separators`; '#' begins a comment. Lines end in LF, CR LF,
// or, if the first line does, CR. A byte-order mark of UTF-8 is skipped, and NUL and Ctrl-Z are blanks. With
// `continues`, a backslash at the end of a line that is no comment continues it. The text must outlive the parser.
// The constructor throws DataError for what is no text in UTF-8 (require_plain_text).
class TextLines {
 public:
  TextLines(std::string_view text, std::string file, std::string_view extra_separators = "", bool continues = false);

  // Advances to the next line that holds a word. Returns false at the end of the text.
  bool next();
  // Advances to the next line, whatever it holds. Returns false at the end of the text.
  bool next_raw();
  // Skips the rest of the current line.
  void pass_line() { line_ = {}; }
  // Skips whole lines; the current line is empty afterwards.
  void skip(int64_t lines);
  // Returns the next word of the line, empty at its end.
  std::string_view word();
  // Parse the next word as a finite number or an integer; `what` names the expected value in the message.
  double number(const char* what);
  // Parses like number(), but the number may be infinite or NaN.
  double any_number(const char* what);
  int64_t integer(const char* what);
  // Parse a whole word as an integer or a finite number.
  int64_t to_integer(std::string_view word, const char* what) const;
  double to_number(std::string_view word, const char* what) const;
  // Also reads what some C libraries write for NaN and infinity, such as "-1.#IND".
  double to_any_number(std::string_view word, const char* what) const;
  // Throws DataError if words are left in the line.
  void end_of_line(const char* what);
  // Returns the rest of the line, trimmed, including comments.
  std::string_view rest() const;
  int64_t line_number() const { return line_number_; }
  size_t bytes_left() const { return text_.size() - next_line_; }
  // Returns the byte offset of the next line.
  size_t next_line_offset() const { return next_line_; }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;
  // Reads a word that names one of `values` in any letter case; `expected` is for the message about another one.
  template <class Value, size_t count>
  Value named(const std::pair<std::string_view, Value> (&values)[count], const std::string& expected) {
    const std::string_view found = word();
    for (const auto& [name, value] : values) {
      if (lower_case(found) == name) return value;
    }
    fail_word(expected, found);
  }

  // Calls fail() with the quoted word or, if it is empty, with the end of the line or file.
  [[noreturn]] void fail_word(const std::string& expected, std::string_view word) const;

 private:
  std::string_view text_;
  std::string file_;
  std::string_view extra_separators_;
  char line_end_ = '\n';
  bool joins_lines_ = false;
  bool continued_ = false;  // the current line continues in the next one
  std::string_view line_;   // rest of the current line
  size_t next_line_ = 0;
  int64_t line_number_ = 0;
  bool at_end_ = false;
};

// Parses the whole `word` as a number with optional sign, possibly infinite or NaN. The exponent may be written as by
// Fortran (1.0D+00). Returns nothing if it is not a number.
std::optional<double> parse_number(std::string_view word);

// Returns whether numbers between blanks have decimal commas: "1,5 2,5".
bool has_decimal_commas(std::string_view line);

// Parses the whole `word` as a 64-bit integer.
std::optional<int64_t> parse_integer(std::string_view word);

}  // namespace geosft
