// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/split_table.h"

#include <algorithm>
#include <sstream>

#include "data/data_error.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "tools/experiment/input_files.h"

namespace geosft {
namespace {

constexpr const char* heading = "split,item,name\n";

}  // namespace

std::string split_csv(const std::vector<SplitRow>& rows) {
  std::string text = rows.empty() ? "" : heading;
  for (const SplitRow& row : rows) text += csv_line({row.split, std::to_string(row.item), row.name});
  return text;
}

std::vector<std::pair<std::string, int64_t>> split_counts(const std::filesystem::path& file) {
  std::vector<std::pair<std::string, int64_t>> counts;
  if (!path_exists(file)) return counts;
  const std::string text = read_file(file);
  if (!text.starts_with(heading)) throw DataError(file.string(), "the columns split,item,name", "others");
  bool quoted = false, at_start = false;
  std::string split;
  // A name may have line breaks, between quotes. Names of splits have neither quotes nor commas.
  for (const char letter : text) {
    if (letter == '"') quoted = !quoted;
    if (letter == '\n' && !quoted) {
      at_start = true;
      split.clear();
    } else if (at_start && letter == ',') {
      const auto known = std::ranges::find(counts, split, &std::pair<std::string, int64_t>::first);
      if (known == counts.end()) {
        counts.emplace_back(split, 1);
      } else {
        ++known->second;
      }
      at_start = false;
    } else if (at_start) {
      split += letter;
    }
  }
  return counts;
}

std::string split_counts_text(const std::vector<std::pair<std::string, int64_t>>& counts) {
  std::string text;
  for (const auto& [split, count] : counts) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + split;
  return text;
}

}  // namespace geosft
