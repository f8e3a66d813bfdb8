// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

// Removes and returns the part of `text` up to `separator`, which is also removed.
std::string_view take_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

bool is_comment(std::string_view line) {
  return !line.empty() && (line.front() == '#' || line.front() == '%');
}

struct TsHeader {
  std::vector<std::string> classes;
  int64_t dimensions = 0;  // 0: not given
  int64_t length = 0;      // of all series; 0: not given
  bool equal_length = false, missing = true;
  std::optional<bool> labelled, targeted;  // @classLabel and @targetLabel

  bool has_labels() const { return labelled.value_or(false); }
  bool has_targets() const { return targeted.value_or(false); }
};

bool read_bool(TextLines& lines) {
  const std::string word = lowered(lines.word());
  if (word != "true" && word != "false") lines.fail_word("true or false", word);
  return word == "true";
}

int64_t read_count(TextLines& lines) {
  const int64_t count = lines.integer("a number of 1 or more");
  if (count < 1) lines.fail("a number of 1 or more", std::to_string(count));
  return count;
}

// Reads one header line after its keyword.
void read_keyword(TextLines& lines, const std::string& keyword, TsHeader& header) {
  if (keyword == "@problemname") return lines.pass_line();
  if (keyword == "@timestamps") {
    if (read_bool(lines)) lines.fail("series without time stamps, which are not supported", "@timeStamps true");
  } else if (keyword == "@missing") {
    header.missing = read_bool(lines);
  } else if (keyword == "@univariate") {
    if (read_bool(lines)) header.dimensions = 1;
  } else if (keyword == "@dimension" || keyword == "@dimensions") {
    header.dimensions = read_count(lines);
  } else if (keyword == "@equallength") {
    header.equal_length = read_bool(lines);
  } else if (keyword == "@serieslength") {
    header.length = read_count(lines);
  } else if (keyword == "@classlabel") {
    header.labelled = read_bool(lines);
    for (std::string_view word = lines.word(); !word.empty(); word = lines.word()) {
      if (word.find(':') != word.npos) lines.fail_word("names of classes without ':'", word);
      header.classes.emplace_back(word);
    }
    if (*header.labelled && header.classes.empty()) lines.fail("names of classes", "none");
  } else if (keyword == "@targetlabel") {
    header.targeted = read_bool(lines);
  } else {
    lines.fail("a keyword such as @dimensions, @classLabel or @data", keyword);
  }
  if (header.has_labels() && header.has_targets()) {
    lines.fail("either classes or targets", "both @classLabel true and @targetLabel true");
  }
}

TsHeader read_header(TextLines& lines, const std::string& file) {
  TsHeader header;
  while (lines.next()) {
    const std::string keyword = lowered(lines.word());
    if (keyword == "@data") {
      if (!header.labelled && !header.targeted) {
        lines.fail("@classLabel true with names of classes, @classLabel false, or @targetLabel, before it", "@data");
      }
      return header;
    }
    if (!is_comment(keyword)) read_keyword(lines, keyword, header);
  }
  throw DataError(file, "@data", "the end of the file");
}

class TsReader {
 public:
  TsReader(TextLines& lines, TsHeader& header) : lines_(lines), header_(header) {}

  // Reads one series: dimensions separated by ':', with the class or target, if any, at the end.
  void read(std::string_view text) {
    std::vector<std::string_view> parts;
    while (!text.empty()) parts.push_back(take_part(text, ':'));
    const bool labelled = header_.has_labels(), targeted = header_.has_targets();
    const auto found = static_cast<int64_t>(parts.size()) - (labelled || targeted ? 1 : 0);
    if (found < 1) {
      lines_.fail(std::string("dimensions and a ") + (targeted ? "target" : "class") + " with ':' between them",
                  "'" + std::string(parts.front()) + "'");
    }
    if (header_.dimensions == 0) header_.dimensions = found;
    if (found != header_.dimensions) {
      lines_.fail(std::to_string(header_.dimensions) + " dimensions", std::to_string(found));
    }
    if (labelled) add_label(parts.back());
    if (targeted) targets.push_back(read_number(parts.back()));
    append_series(parts);
  }

  std::vector<float> values, targets;
  std::vector<int64_t> offsets{0}, labels;

 private:
  void add_label(std::string_view name) {
    const auto label = std::find(header_.classes.begin(), header_.classes.end(), name);
    if (label == header_.classes.end()) lines_.fail("a class of @classLabel", "'" + std::string(name) + "'");
    labels.push_back(label - header_.classes.begin());
  }

  // Parses all dimensions before allocating memory, so that one long dimension cannot cause a large allocation for all.
  void append_series(const std::vector<std::string_view>& parts) {
    const auto dimensions = static_cast<size_t>(header_.dimensions);
    numbers_.clear();
    int64_t length = 0;
    for (size_t d = 0; d < dimensions; ++d) {
      const auto before = static_cast<int64_t>(numbers_.size());
      read_numbers(parts[d]);
      const auto count = static_cast<int64_t>(numbers_.size()) - before;
      if (d == 0) check_length(length = count);
      if (count != length) {
        lines_.fail(std::to_string(length) + " values in every dimension",
                    std::to_string(count) + " in dimension " + std::to_string(d + 1));
      }
    }
    const auto steps = static_cast<size_t>(length);
    for (size_t i = 0; i < steps; ++i) {
      for (size_t d = 0; d < dimensions; ++d) values.push_back(numbers_[d * steps + i]);
    }
    offsets.push_back(offsets.back() + length);
  }

  void check_length(int64_t length) {
    if (!header_.equal_length) return;
    if (header_.length == 0) header_.length = length;
    if (length != header_.length) {
      lines_.fail("series of " + std::to_string(header_.length) + " values, all of one length", std::to_string(length));
    }
  }

  void read_numbers(std::string_view text) {
    if (text.empty()) lines_.fail("values with ',' between them", "an empty dimension");
    while (!text.empty()) {
      const std::string_view word = take_part(text, ',');
      numbers_.push_back(read_number(word));
      if (std::isnan(numbers_.back()) && !header_.missing) {
        lines_.fail("a value, as @missing is false", "'" + std::string(word) + "'");
      }
    }
  }

  // Reads a number, or NaN for one that is missing.
  float read_number(std::string_view word) {
    if (word == "?" || lowered(word) == "nan") return std::numeric_limits<float>::quiet_NaN();
    return series_number(lines_, word, "a number");
  }

  TextLines& lines_;
  TsHeader& header_;
  std::vector<float> numbers_;  // one series, dimension by dimension
};

}  // namespace

TsFile read_ts_file(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  TextLines lines(text, file.string());
  TsHeader header = read_header(lines, file.string());
  TsReader reader(lines, header);
  while (lines.next_raw()) {
    if (const std::string_view series = lines.rest(); !series.empty() && !is_comment(series)) reader.read(series);
  }
  if (reader.offsets.size() == 1) throw DataError(file.string(), "series below @data", "none");
  return {file.string(),
          header.classes,
          at::tensor(reader.values, at::kFloat).view({-1, header.dimensions}),
          at::tensor(reader.offsets, at::kLong),
          header.has_labels() ? at::tensor(reader.labels, at::kLong) : at::Tensor(),
          header.has_targets() ? at::tensor(reader.targets, at::kFloat) : at::Tensor()};
}

}  // namespace geosft
