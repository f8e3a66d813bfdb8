// SPDX-License-Identifier: Apache-2.0
#include "data/formats/text_lines.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "data/data_error.h"
#include "data/formats/file_content.h"

namespace geosft {
namespace {

// Returns whether `text` begins with the end of "1.#INF", "-1.#IND", "1.#QNAN" or "1.#SNAN" from its '#' on.
bool is_end_of_number(std::string_view text) {
  return text.starts_with("#IN") || text.starts_with("#QNAN") || text.starts_with("#SNAN");
}

char line_end_of(std::string_view text) {
  const size_t end = text.find_first_of("\r\n");
  if (end == std::string_view::npos || text[end] == '\n') return '\n';
  const size_t after = text.find_first_not_of('\r', end);
  return after != std::string_view::npos && text[after] == '\n' ? '\n' : '\r';
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

TextLines::TextLines(std::string_view text, std::string file, std::string_view extra_separators, bool continues)
    : text_(text),
      file_(std::move(file)),
      extra_separators_(extra_separators),
      line_end_(line_end_of(text)),
      joins_lines_(continues) {
  require_plain_text(text, file_);
  next_line_ = text.size() - without_byte_order_mark(text).size();
}

bool TextLines::next_raw() {
  continued_ = false;
  if (next_line_ >= text_.size()) {
    at_end_ = true;
    line_ = {};
    return false;
  }
  const char* begin = text_.data() + next_line_;
  const size_t left = text_.size() - next_line_;
  const void* end = std::memchr(begin, line_end_, left);
  const size_t length = end ? static_cast<size_t>(static_cast<const char*>(end) - begin) : left;
  line_ = {begin, length};
  next_line_ += std::min(length + 1, left);
  ++line_number_;
  if (joins_lines_) {
    size_t last = line_.size();
    while (last > 0 && is_blank(line_[last - 1])) --last;
    continued_ = last > 0 && line_[last - 1] == '\\';
    if (continued_) line_ = line_.substr(0, last - 1);
  }
  return true;
}

bool TextLines::next() {
  while (continued_) next_raw();
  while (next_raw()) {
    size_t i = 0;
    while (i < line_.size() && is_blank(line_[i])) ++i;
    line_.remove_prefix(i);
    if (!line_.empty() && line_[0] != '#') return true;
    continued_ = false;
  }
  return false;
}

void TextLines::skip(int64_t lines) {
  for (int64_t i = 0; i < lines; ++i) next_raw();
  line_ = {};
}

std::string_view TextLines::word() {
  const auto separates = [this](char c) {
    return is_blank(c) || (!extra_separators_.empty() && extra_separators_.find(c) != std::string_view::npos);
  };
  size_t begin = 0;
  while (true) {
    while (begin < line_.size() && separates(line_[begin])) ++begin;
    if (begin < line_.size() || !continued_) break;
    begin = 0;
    if (!next_raw()) break;
  }
  size_t end = begin;
  const auto ends = [&] { return line_[end] == '#' && !(end > begin && is_end_of_number(line_.substr(end))); };
  while (end < line_.size() && !separates(line_[end]) && !ends()) ++end;
  const std::string_view word = line_.substr(begin, end - begin);
  line_.remove_prefix(word.empty() ? line_.size() : end);
  if (word.empty()) continued_ = false;  // at a comment
  return word;
}

double TextLines::to_number(std::string_view word, const char* what) const {
  const std::optional<double> value = parse_number(word);
  if (!value) fail_word(what, word);
  if (!std::isfinite(*value)) fail_word(what + std::string(" that is finite"), word);
  return *value;
}

double TextLines::to_any_number(std::string_view word, const char* what) const {
  if (const std::optional<double> value = parse_number(word)) return *value;
  const size_t mark = word.find(".#");
  if (mark == std::string_view::npos || !is_end_of_number(word.substr(mark + 1))) fail_word(what, word);
  if (!word.substr(mark).starts_with(".#INF")) return std::numeric_limits<double>::quiet_NaN();
  return word[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

int64_t TextLines::to_integer(std::string_view word, const char* what) const {
  const std::optional<int64_t> value = parse_integer(word);
  if (!value) fail_word(what, word);
  return *value;
}

double TextLines::number(const char* what) {
  return to_number(word(), what);
}

double TextLines::any_number(const char* what) {
  return to_any_number(word(), what);
}

int64_t TextLines::integer(const char* what) {
  return to_integer(word(), what);
}

void TextLines::end_of_line(const char* what) {
  const std::string_view extra = word();
  if (!extra.empty()) fail_word(std::string("the end of the line after ") + what, extra);
}

std::string_view TextLines::rest() const {
  return trimmed(line_);
}

void TextLines::fail(const std::string& expected, const std::string& found) const {
  throw DataError(file_ + ":" + std::to_string(line_number_), expected, found);
}

void TextLines::fail_word(const std::string& expected, std::string_view word) const {
  constexpr size_t longest = 40;
  if (!word.empty()) fail(expected, std::string("\"").append(word.substr(0, longest)).append("\""));
  fail(expected, at_end_ ? "the end of the file" : "the end of the line");
}

bool has_decimal_commas(std::string_view line) {
  size_t words = 0;
  bool found = false;
  for (size_t at = 0; at < line.size();) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at >= line.size() || line[at] == '#') break;
    const size_t begin = at;
    while (at < line.size() && !is_blank(line[at]) && line[at] != '#') ++at;
    const std::string_view word = line.substr(begin, at - begin);
    ++words;
    const size_t comma = word.find(',');
    if (comma == std::string_view::npos || word.find_first_of(",.", comma + 1) != std::string_view::npos) continue;
    found = found || (parse_integer(word.substr(0, comma)) && parse_number(word.substr(comma + 1)));
  }
  return found && words > 1;
}

}  // namespace geosft
