// SPDX-License-Identifier: Apache-2.0
// Parses values separated by commas (RFC 4180), or another character, row by row, with errors that name the line.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// Quoted fields may hold commas, line breaks and doubled quotes. Empty lines and a byte-order mark are skipped. The
// reader views the text, which must outlive it. The constructor throws DataError for what is no text in UTF-8
// (require_plain_text).
class CsvRows {
 public:
  CsvRows(std::string_view text, std::string file, char separator = ',');

  // Advances to the next row. Returns false at the end. Throws DataError for an unclosed quote or text after a closing
  // quote.
  bool next();
  size_t size() const { return fields_.size(); }
  std::string_view operator[](size_t column) const { return fields_[column]; }
  // Parse a field as a finite number or an integer; `what` names the expected value in the message.
  double number(size_t column, const char* what) const;
  int64_t integer(size_t column, const char* what) const;
  // Parses like number(), but returns NaN if the field is empty or "nan".
  double number_or_nan(size_t column, const char* what) const;
  // Returns the line where the row begins.
  int64_t line_number() const { return row_line_; }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;
  [[noreturn]] void fail_field(const std::string& expected, size_t column) const;

 private:
  void read_field();
  void read_quoted();

  std::string_view text_;
  std::string file_;
  char separator_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // storage of fields that had doubled quotes
  size_t at_ = 0;
  int64_t line_ = 1, row_line_ = 0;
};

}  // namespace geosft
