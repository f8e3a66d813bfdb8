// SPDX-License-Identifier: Apache-2.0
#include "data/formats/csv_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/data_error.h"
#include "data/formats/file_content.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {

CsvRows::CsvRows(std::string_view text, std::string file, char separator)
    : text_(without_byte_order_mark(text)), file_(std::move(file)), separator_(separator) {
  require_plain_text(text, file_);
}

bool CsvRows::next() {
  fields_.clear();
  unquoted_.clear();
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) line_ += text_[at_++] == '\n';
  row_line_ = line_;
  if (at_ >= text_.size()) return false;
  for (bool more = true; more;) {
    read_field();
    more = at_ < text_.size() && text_[at_] == separator_;
    if (more) ++at_;
  }
  return true;
}

void CsvRows::read_field() {
  if (at_ < text_.size() && text_[at_] == '"') return read_quoted();
  const size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
  fields_.push_back(trimmed(text_.substr(begin, at_ - begin)));
}

void CsvRows::read_quoted() {
  const size_t begin = ++at_;
  bool doubled = false;
  for (;; ++at_) {
    at_ = std::min(text_.find('"', at_), text_.size());
    if (at_ == text_.size()) fail("a quote that closes column " + std::to_string(fields_.size() + 1), "none");
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
    doubled = true;
    ++at_;
  }
  const std::string_view field = text_.substr(begin, at_++ - begin);
  line_ += std::count(field.begin(), field.end(), '\n');
  fields_.push_back(field);
  if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') {
    fail(std::string(separator_ == ','   ? "a comma"
                     : separator_ == ';' ? "a semicolon"
                                         : "a separator") +
             " or the end of the line after the quotes of column " + std::to_string(fields_.size()),
         std::string("\"") + text_[at_] + "\"");
  }
  if (!doubled) return;
  std::string& plain = unquoted_.emplace_back();
  for (size_t i = 0; i < field.size(); i += field[i] == '"' ? 2 : 1) plain += field[i];
  fields_.back() = plain;
}

double CsvRows::number(size_t column, const char* what) const {
  const std::optional<double> value = parse_number(fields_[column]);
  if (!value) fail_field(what, column);
  if (!std::isfinite(*value)) fail_field(what + std::string(" that is finite"), column);
  return *value;
}

double CsvRows::number_or_nan(size_t column, const char* what) const {
  const std::string_view field = fields_[column];
  if (field.empty() || field == "nan" || field == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return number(column, what);
}

int64_t CsvRows::integer(size_t column, const char* what) const {
  const std::optional<int64_t> value = parse_integer(fields_[column]);
  if (!value) fail_field(what, column);
  return *value;
}

void CsvRows::fail(const std::string& expected, const std::string& found) const {
  throw DataError(file_ + ":" + std::to_string(row_line_), expected, found);
}

void CsvRows::fail_field(const std::string& expected, size_t column) const {
  constexpr size_t longest = 40;
  const std::string field(fields_[column].substr(0, longest));
  fail(expected + " in column " + std::to_string(column + 1), field.empty() ? "an empty field" : "\"" + field + "\"");
}

}  // namespace geosft
