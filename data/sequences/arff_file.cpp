// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

struct ArffWord {
  std::string text;
  bool quoted = false;
};

// Splits a line into words, which end at a blank, a comma or a brace, or are quoted by ' or ".
class ArffWords {
 public:
  ArffWords(std::string_view line, const TextLines& lines) : line_(line), lines_(lines) {}

  // Returns the next character that is no blank, without taking it; 0 at the end of the line and before a comment.
  char peek() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    return at_ < line_.size() && line_[at_] != '%' ? line_[at_] : '\0';
  }
  bool take(char expected) {
    const bool found = peek() == expected && expected != '\0';
    if (found) ++at_;
    return found;
  }
  ArffWord word() {
    ArffWord word;
    const char quote = peek();
    if (quote == '\'' || quote == '"') {
      word.quoted = true;
      ++at_;
      // A backslash before a quote or a backslash escapes it; the "\n" between rows is kept.
      for (; at_ < line_.size() && line_[at_] != quote; ++at_) {
        const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : ' ';
        if (line_[at_] == '\\' && (next == '\'' || next == '"' || next == '\\')) ++at_;
        word.text += line_[at_];
      }
      if (at_ >= line_.size()) lines_.fail("a quote that closes a value", "the end of the line");
      ++at_;
      return word;
    }
    for (; at_ < line_.size() && !is_blank(line_[at_]) &&
           std::string_view(",{}").find(line_[at_]) == std::string_view::npos;
         ++at_) {
      word.text += line_[at_];
    }
    return word;
  }

 private:
  std::string_view line_;
  const TextLines& lines_;
  size_t at_ = 0;
};

struct ArffHeader {
  std::vector<std::string> classes;
  int64_t values = 0;       // numeric attributes: the steps of a series
  bool relational = false;  // whether they are in a relational attribute
  bool labelled = false;
};

class ArffReader {
 public:
  ArffReader(std::string_view text, const std::string& file) : lines_(text, file), file_(file) {}

  TsFile read() {
    read_header();
    while (next_line()) read_series();
    if (offsets_.size() == 1) throw DataError(file_, "series below @data", "none");
    TsFile set;
    set.file = file_;
    set.classes = header_.classes;
    set.values = at::tensor(values_, at::kFloat).view({-1, dimensions_});
    set.ptr = at::tensor(offsets_, at::kLong);
    if (header_.labelled) set.labels = at::tensor(labels_, at::kLong);
    return set;
  }

 private:
  // Advances to the next line that is neither blank nor a comment.
  bool next_line() {
    while (lines_.next_raw()) {
      if (const std::string_view line = lines_.rest(); !line.empty() && line.front() != '%') return true;
    }
    return false;
  }

  void read_header() {
    bool in_relation = false;
    while (next_line()) {
      ArffWords words(lines_.rest(), lines_);
      const std::string word = words.word().text, keyword = lower_case(word);
      if (keyword == "@relation") continue;
      if (keyword == "@attribute") {
        const std::string name = lower_case(words.word().text);
        const int64_t values = header_.values;
        read_type(words, in_relation);
        // As a step of the series it would be a value like others.
        const bool is_answer = name == "class" || name == "target" || name == "label" || name == "classattribute";
        if (is_answer && header_.values > values) lines_.fail("classes {…} in the attribute " + name, "numbers");
      } else if (keyword == "@end" && in_relation) {
        in_relation = false;
      } else if (keyword == "@data") {
        if (in_relation) lines_.fail("@end of the relational attribute before it", "@data");
        if (header_.values == 0) lines_.fail("numeric attributes, the values of a series, before it", "@data");
        return;
      } else {
        lines_.fail_word("a keyword of ARFF such as @attribute or @data", word);
      }
    }
    throw DataError(file_, "@data", "the end of the file");
  }

  void read_type(ArffWords& words, bool& in_relation) {
    if (header_.labelled) lines_.fail("the class as the last attribute", "another one behind it");
    if (words.take('{')) {
      if (in_relation) lines_.fail("numeric attributes in a relational one", "a nominal one");
      return read_classes(words);
    }
    const std::string word = words.word().text, type = lower_case(word);
    if (type == "relational") {
      if (header_.relational || header_.values > 0) lines_.fail("one relational attribute, the first", "another one");
      header_.relational = in_relation = true;
      return;
    }
    if (type != "numeric" && type != "real" && type != "integer") {
      lines_.fail_word("numeric attributes, or one relational one, and classes {…}", word);
    }
    if (header_.relational && !in_relation) lines_.fail("a class {…} behind the relational attribute", type);
    ++header_.values;
  }

  void read_classes(ArffWords& words) {
    header_.labelled = true;
    while (!words.take('}')) {
      const ArffWord name = words.word();
      if (name.text.empty() && !name.quoted) lines_.fail("names of classes between braces", "none");
      header_.classes.push_back(name.text);
      if (!words.take(',') && words.peek() != '}') lines_.fail("a comma or } behind a class", "something else");
    }
    if (header_.classes.empty()) lines_.fail("names of classes", "none");
  }

  void read_series() {
    ArffWords words(lines_.rest(), lines_);
    if (words.peek() == '{') lines_.fail("a value for each attribute", "a sparse row");
    numbers_.clear();
    int64_t dimensions = 1;
    if (header_.relational) {
      const ArffWord relation = words.word();
      if (!relation.quoted) lines_.fail_word("a quoted relation", relation.text);
      dimensions = read_rows(relation.text);
    } else {
      read_row(words);
    }
    if (dimensions_ == 0) dimensions_ = dimensions;
    if (dimensions != dimensions_) {
      lines_.fail(std::to_string(dimensions_) + " dimensions", std::to_string(dimensions));
    }
    if (header_.labelled) {
      if (header_.relational && !words.take(',')) lines_.fail("a class behind the relation", "none");
      add_label(words.word().text);
    }
    if (words.peek() != '\0') lines_.fail("the end of the line after a series", "more");
    append_series();
  }

  int64_t read_rows(const std::string& relation) {
    constexpr std::string_view line_break = "\\n";
    int64_t rows = 0;
    for (size_t begin = 0; begin <= relation.size(); ++rows) {
      const size_t end = std::min(relation.find(line_break, begin), relation.size());
      const std::string_view row = std::string_view(relation).substr(begin, end - begin);
      begin = end + line_break.size();
      if (rows > 0 && row.empty() && end == relation.size()) break;  // a line break at the end
      ArffWords words(row, lines_);
      read_row(words);
    }
    return rows;
  }

  // Reads the values of one dimension; of a univariate series a comma and the class follow.
  void read_row(ArffWords& words) {
    for (int64_t i = 0; i < header_.values; ++i) {
      const std::string word = words.word().text;
      if (word == "?") {
        numbers_.push_back(std::numeric_limits<float>::quiet_NaN());
      } else {
        numbers_.push_back(series_number(lines_, word, "a number or ?"));
      }
      const bool last = i + 1 == header_.values, ends = last && (header_.relational || !header_.labelled);
      if (!ends && !words.take(',')) {
        if (last) lines_.fail("a class behind the values", "none");
        lines_.fail(std::to_string(header_.values) + " values, as many as attributes", std::to_string(i + 1));
      }
    }
    if (header_.relational && words.peek() != '\0') {
      lines_.fail(std::to_string(header_.values) + " values in a dimension", "more");
    }
  }

  void add_label(const std::string& name) {
    const auto label = std::find(header_.classes.begin(), header_.classes.end(), name);
    if (label == header_.classes.end() && name == "?") return labels_.push_back(-1);
    if (label == header_.classes.end()) lines_.fail_word("a class of the last attribute", name);
    labels_.push_back(label - header_.classes.begin());
  }

  // Appends the series in `numbers_`, dimension by dimension, step by step.
  void append_series() {
    const auto dimensions = static_cast<size_t>(dimensions_), count = static_cast<size_t>(header_.values);
    size_t steps = count;
    const auto is_padding = [&](size_t step) {
      for (size_t d = 0; d < dimensions; ++d) {
        if (!std::isnan(numbers_[d * count + step])) return false;
      }
      return true;
    };
    while (steps > 0 && is_padding(steps - 1)) --steps;
    if (steps == 0) lines_.fail("a series with a value", "none");
    for (size_t i = 0; i < steps; ++i) {
      for (size_t d = 0; d < dimensions; ++d) values_.push_back(numbers_[d * count + i]);
    }
    offsets_.push_back(offsets_.back() + static_cast<int64_t>(steps));
  }

  TextLines lines_;
  const std::string& file_;
  ArffHeader header_;
  int64_t dimensions_ = 0;
  std::vector<float> numbers_;  // one series, dimension by dimension
  std::vector<float> values_;
  std::vector<int64_t> offsets_{0}, labels_;
};

}  // namespace

TsFile read_arff_file(const std::filesystem::path& file) {
  const std::string text = read_gz_file(file);
  const std::string name = file.string();
  return ArffReader(text, name).read();
}

}  // namespace geosft
