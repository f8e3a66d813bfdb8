// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <set>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"
#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

struct LabelledTexts {
  int64_t max_length;
  std::vector<uint8_t> bytes;
  std::vector<int64_t> offsets{0};
  std::vector<std::string> labels;
  int64_t empty = 0;  // texts that were empty

  void add(std::string_view text, std::string_view label) {
    const std::string_view held = max_length > 0 ? text.substr(0, static_cast<size_t>(max_length)) : text;
    bytes.insert(bytes.end(), held.begin(), held.end());
    offsets.push_back(static_cast<int64_t>(bytes.size()));
    labels.emplace_back(label);
  }
};

std::vector<fs::path> entries_in_order(const fs::path& folder) {
  std::vector<fs::path> entries;
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

// Returns the number of columns of a line if it has at least four and all are numbers, as those of a series; else 0.
int64_t series_columns(std::string_view line) {
  int64_t columns = 0;
  for (size_t begin = 0; begin <= line.size(); ++columns) {
    const size_t end = std::min(line.find('\t', begin), line.size());
    if (!parse_number(trimmed(line.substr(begin, end - begin)))) return 0;
    begin = end + 1;
  }
  return columns < 4 ? 0 : columns;
}

void read_text_table(const fs::path& file, LabelledTexts& all) {
  LineStream lines(file);
  bool first_line = true;
  while (lines.next()) {
    const std::string_view line = lines.whole_line();
    const int64_t columns = first_line ? series_columns(line) : 0;
    first_line = false;
    if (columns > 0) {
      lines.fail("label<TAB>id<TAB>text; tables of series are called NAME_TRAIN.tsv and NAME_TEST.tsv, in capitals",
                 std::to_string(columns) + " numbers");
    }
    const size_t first = line.find('\t'), second = first == line.npos ? line.npos : line.find('\t', first + 1);
    if (second == line.npos) lines.fail("label<TAB>id<TAB>text", "fewer than two tabs");
    const std::string_view text = trimmed(line.substr(second + 1)), label = trimmed(line.substr(0, first));
    if (label.empty()) lines.fail("a label", "none");
    all.empty += text.empty();
    all.add(text.empty() ? " " : text, label);
  }
}

// Throws DataError for a table whose first line names its columns.
void refuse_header(const fs::path& table, const LabelledTexts& all, size_t first) {
  const std::string& label = all.labels.at(first);
  constexpr std::array<std::string_view, 6> names = {"label", "labels", "class", "target", "category", "sentiment"};
  if (std::ranges::count(names, lower_case(label)) == 0 ||
      std::count(all.labels.begin() + static_cast<std::ptrdiff_t>(first), all.labels.end(), label) > 1)
    return;
  throw DataError(table.string() + ":1", "label<TAB>id<TAB>text from the first line on",
                  "a header, '" + label + "', the only text of this class");
}

void read_text_folders(const fs::path& folder, LabelledTexts& all) {
  for (const fs::path& label : entries_in_order(folder)) {
    if (!fs::is_directory(label) || label.filename() == "unsup") continue;  // unsup: texts without a class
    for (const fs::path& file : entries_in_order(label)) {
      if (file.extension() != ".txt") continue;
      const std::string text = read_file(file);
      if (text.empty()) throw DataError(file.string(), "a text", "an empty file");
      all.add(text, label.filename().string());
    }
  }
}

// Appends the texts of a split and returns their item indices.
std::vector<int64_t> read_split(const fs::path& folder, const std::string& split, LabelledTexts& all) {
  const auto first = static_cast<int64_t>(all.labels.size());
  const fs::path table = only_file(folder, "_" + split + ".tsv");
  if (table.empty()) {
    read_text_folders(folder / split, all);
  } else {
    read_text_table(table, all);
    if (static_cast<int64_t>(all.labels.size()) > first) refuse_header(table, all, static_cast<size_t>(first));
  }
  const auto end = static_cast<int64_t>(all.labels.size());
  if (end == first) throw DataError(folder.string(), "texts of the " + split + " split", "none");
  return item_range(first, end);
}

std::vector<int64_t> class_numbers(const std::vector<std::string>& labels, const std::vector<std::string>& classes,
                                   const std::string& source) {
  std::vector<int64_t> numbers;
  numbers.reserve(labels.size());
  for (const std::string& label : labels) {
    const auto found = std::lower_bound(classes.begin(), classes.end(), label);
    if (found == classes.end() || *found != label) {
      throw DataError(source + " (test split)", "classes of the training split", "'" + label + "'");
    }
    numbers.push_back(found - classes.begin());
  }
  return numbers;
}

}  // namespace

bool is_byte_texts(const fs::path& folder) {
  if (!only_file(folder, "_train.tsv").empty()) return true;
  const std::vector<fs::path> classes = entries_in_order(folder / "train");
  return std::any_of(classes.begin(), classes.end(), [](const fs::path& label) {
    const std::vector<fs::path> files = entries_in_order(label);
    return !files.empty() && files.front().extension() == ".txt";
  });
}

bool has_text_ending(const fs::path& file) {
  return lower_case(file.extension().string()) == ".txt";
}

PackedItems read_unlabelled_text(const fs::path& file) {
  LabelledTexts one{0, {}, {0}, {}, 0};
  const std::string text = read_file(file);
  if (text.empty()) throw DataError(file.string(), "a text", "an empty file");
  one.add(text, "");
  PackedItems packed = packed_sequences(at::tensor(one.offsets, at::kLong), {}, {});
  packed.node_categories = byte_categories(std::move(one.bytes), 1);
  packed.schema.node_vocabulary = {256};
  return packed;
}

PackedItems read_byte_texts(const fs::path& folder, int64_t max_length) {
  LabelledTexts all{max_length, {}, {0}, {}, 0};
  DatasetSplit split;
  split.train = read_split(folder, "train", all);
  const std::set<std::string> names(all.labels.begin(), all.labels.end());
  const std::vector<std::string> classes(names.begin(), names.end());
  split.test = read_split(folder, "test", all);
  const std::vector<int64_t> labels = class_numbers(all.labels, classes, folder.string());
  PackedItems packed = packed_sequences(at::tensor(all.offsets, at::kLong), at::tensor(labels, at::kLong), classes);
  packed.node_categories = byte_categories(std::move(all.bytes), 1);
  packed.schema.node_vocabulary = {256};
  packed.split = split;
  if (all.empty > 0) packed.warnings = {empty_texts_warning(folder, all.empty)};
  check_packed_items(packed, folder.string());
  return packed;
}

}  // namespace geosft
