// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

struct LabelledSeries {
  std::vector<double> labels;
  std::vector<float> values;
  std::vector<int64_t> offsets{0};
};

// Returns the fields of a line, separated by commas, or by tabs, of which two in a row have an empty field between
// them, or by blanks.
std::vector<std::string_view> fields_of(TextLines& lines) {
  std::string_view line = lines.rest();
  for (size_t at = 0; at < line.size(); ++at) {  // a comment, not the # of -1.#IND
    if (line[at] != '#' || (at > 0 && !is_blank(line[at - 1]) && line[at - 1] != ',')) continue;
    line = line.substr(0, at);
  }
  std::vector<std::string_view> fields;
  for (const char separator : {',', '\t'}) {
    if (line.find(separator) == line.npos) continue;
    for (size_t begin = 0; begin <= line.size();) {
      const size_t end = std::min(line.find(separator, begin), line.size());
      fields.push_back(trimmed(line.substr(begin, end - begin)));
      begin = end + 1;
    }
    const auto has_separator = [](std::string_view field) {
      return std::ranges::any_of(field, [](char c) { return is_blank(c) || c == ','; });
    };
    if (std::ranges::none_of(fields, has_separator)) return fields;
    fields.clear();  // several kinds of separators
  }
  for (std::string_view word = lines.word(); !word.empty(); word = lines.word()) fields.push_back(word);
  return fields;
}

void read_series(TextLines& lines, LabelledSeries& all) {
  if (has_decimal_commas(lines.rest())) lines.fail_word("decimal points", lines.rest().substr(0, 40));
  const std::vector<std::string_view> fields = fields_of(lines);
  const std::string_view label = fields.front();
  if (label.empty()) lines.fail("a class that is a number", "an empty field");
  all.labels.push_back(lines.to_number(label, "a class that is a number"));
  if (all.labels.back() != std::floor(all.labels.back())) {
    lines.fail_word("a class, a whole number, before the values", label);
  }
  const auto first = static_cast<size_t>(all.offsets.back());
  for (const std::string_view word : std::span(fields).subspan(1)) {
    const std::optional<double> value = parse_number(word);
    if (word.empty() || (value && std::isnan(*value))) {
      all.values.push_back(std::numeric_limits<float>::quiet_NaN());
    } else {
      all.values.push_back(series_number(lines, word, "a number"));
    }
  }
  while (all.values.size() > first && std::isnan(all.values.back())) all.values.pop_back();
  if (all.values.size() == first) lines.fail("values behind the class", "none");
  all.offsets.push_back(static_cast<int64_t>(all.values.size()));
}

}  // namespace

TsFile read_ucr_table(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  TextLines lines(text, file.string(), ",");
  LabelledSeries all;
  while (lines.next()) read_series(lines, all);
  if (all.labels.empty()) throw DataError(file.string(), "a series per line", "none");
  std::vector<double> distinct = all.labels;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  TsFile set;
  set.file = file.string();
  for (const double label : distinct) set.classes.push_back(c10::str(label));
  std::vector<int64_t> labels;
  for (const double label : all.labels) {
    labels.push_back(std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin());
  }
  set.values = at::tensor(all.values, at::kFloat).view({-1, 1});
  set.ptr = at::tensor(all.offsets, at::kLong);
  set.labels = at::tensor(labels, at::kLong);
  return set;
}

}  // namespace geosft
