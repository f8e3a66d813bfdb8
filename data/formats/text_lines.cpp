// SPDX-License-Identifier: Apache-2.0
#include "data/formats/text_lines.h"

#include <cmath>
#include <cstring>

#include "data/data_error.h"
#include "data/formats/numbers.h"
#include "data/read_file.h"

namespace geosft {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace

bool TextLines::next_raw() {
  if (next_line_ >= text_.size()) {
    at_end_ = true;
    line_ = {};
    return false;
  }
  const char* begin = text_.data() + next_line_;
  const size_t left = text_.size() - next_line_;
  const void* end = std::memchr(begin, '\n', left);
  const size_t length = end ? static_cast<size_t>(static_cast<const char*>(end) - begin) : left;
  line_ = {begin, length};
  next_line_ += std::min(length + 1, left);
  ++line_number_;
  return true;
}

bool TextLines::next() {
  while (next_raw()) {
    size_t i = 0;
    while (i < line_.size() && is_blank(line_[i])) ++i;
    line_.remove_prefix(i);
    if (!line_.empty() && line_[0] != '#') return true;
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
  while (begin < line_.size() && separates(line_[begin])) ++begin;
  size_t end = begin;
  while (end < line_.size() && !separates(line_[end]) && line_[end] != '#') ++end;
  const std::string_view word = line_.substr(begin, end - begin);
  line_.remove_prefix(word.empty() ? line_.size() : end);
  return word;
}

double TextLines::to_number(std::string_view word, const char* what) const {
  const std::optional<double> value = parse_number(word);
  if (!value) fail_word(what, word);
  if (!std::isfinite(*value)) fail_word(what + std::string(" that is finite"), word);
  return *value;
}

int64_t TextLines::to_integer(std::string_view word, const char* what) const {
  const std::optional<int64_t> value = parse_integer(word);
  if (!value) fail_word(what, word);
  return *value;
}

double TextLines::number(const char* what) {
  return to_number(word(), what);
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

}  // namespace geosft
