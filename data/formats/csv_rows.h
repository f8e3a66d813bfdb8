// SPDX-License-Identifier: Apache-2.0
// Tables in comma-separated values (RFC 4180), row by row, with errors that name the line.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// Fields may stand in quotes, and then hold commas, line breaks and quotes (doubled). Empty lines are passed over.
// Views the text, which must outlive it.
class CsvRows {
 public:
  CsvRows(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  // Goes to the next row. False at the end. DataError for a quote that is never closed or text behind one.
  bool next();
  size_t size() const { return fields_.size(); }
  std::string_view operator[](size_t column) const { return fields_[column]; }
  // A field as a finite number, or as an integer; `what` says in the message what was expected.
  double number(size_t column, const char* what) const;
  int64_t integer(size_t column, const char* what) const;
  // The same, but NaN where the field is empty or "nan".
  double number_or_nan(size_t column, const char* what) const;
  // Where the row begins.
  int64_t line_number() const { return row_line_; }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const;
  [[noreturn]] void fail_field(const std::string& expected, size_t column) const;

 private:
  void read_field();
  void read_quoted();

  std::string_view text_;
  std::string file_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // fields that had doubled quotes
  size_t at_ = 0;
  int64_t line_ = 1, row_line_ = 0;
};

}  // namespace geosft
