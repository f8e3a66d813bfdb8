// SPDX-License-Identifier: Apache-2.0
#include "data/byte_texts.h"

#include <algorithm>
#include <set>

#include "data/formats/text_lines.h"
#include "data/read_file.h"
#include "data/sequence_dataset.h"
#include "data/shape.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

struct LabelledTexts {
  std::vector<std::string> texts, labels;
};

std::vector<fs::path> entries_in_order(const fs::path& folder) {
  std::vector<fs::path> entries;
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

LabelledTexts read_text_table(const fs::path& file) {
  const std::string bytes = read_file(file);
  TextLines lines(bytes, file.string());
  LabelledTexts all;
  while (lines.next_raw()) {
    const std::string_view line = lines.rest();
    if (line.empty()) continue;
    const size_t first = line.find('\t'), second = first == line.npos ? line.npos : line.find('\t', first + 1);
    if (second == line.npos) lines.fail("label<TAB>id<TAB>text", "fewer than two tabs");
    const std::string_view text = trimmed(line.substr(second + 1)), label = trimmed(line.substr(0, first));
    if (text.empty() || label.empty()) lines.fail("a label and a text", text.empty() ? "no text" : "no label");
    all.texts.emplace_back(text);
    all.labels.emplace_back(label);
  }
  return all;
}

LabelledTexts read_text_folders(const fs::path& folder) {
  LabelledTexts all;
  for (const fs::path& label : entries_in_order(folder)) {
    if (!fs::is_directory(label) || label.filename() == "unsup") continue;  // texts without a class
    for (const fs::path& file : entries_in_order(label)) {
      if (file.extension() != ".txt") continue;
      all.texts.push_back(read_file(file));
      all.labels.push_back(label.filename().string());
      if (all.texts.back().empty()) throw DataError(file.string(), "a text", "an empty file");
    }
  }
  return all;
}

LabelledTexts read_part(const fs::path& folder, const std::string& part) {
  const fs::path table = only_file(folder, "_" + part + ".tsv");
  LabelledTexts all = table.empty() ? read_text_folders(folder / part) : read_text_table(table);
  if (all.texts.empty()) throw DataError(folder.string(), "texts of the " + part + " part", "none");
  return all;
}

// Appends the texts of a part, and gives their items.
std::vector<int64_t> append_texts(const LabelledTexts& part, const std::vector<std::string>& classes,
                                  const std::string& source, std::vector<int64_t>& bytes, std::vector<int64_t>& offsets,
                                  std::vector<int64_t>& labels) {
  std::vector<int64_t> items;
  for (size_t i = 0; i < part.texts.size(); ++i) {
    const auto found = std::lower_bound(classes.begin(), classes.end(), part.labels[i]);
    if (found == classes.end() || *found != part.labels[i]) {
      throw DataError(source + " (test part)", "classes of the training part", "'" + part.labels[i] + "'");
    }
    for (const char byte : part.texts[i]) bytes.push_back(static_cast<unsigned char>(byte));
    items.push_back(static_cast<int64_t>(labels.size()));
    labels.push_back(found - classes.begin());
    offsets.push_back(static_cast<int64_t>(bytes.size()));
  }
  return items;
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

PackedGraphs read_byte_texts(const fs::path& folder) {
  const LabelledTexts train = read_part(folder, "train"), test = read_part(folder, "test");
  const std::set<std::string> names(train.labels.begin(), train.labels.end());
  const std::vector<std::string> classes(names.begin(), names.end());
  std::vector<int64_t> bytes, offsets{0}, labels;
  GraphSplit split;
  split.train = append_texts(train, classes, folder.string(), bytes, offsets, labels);
  split.test = append_texts(test, classes, folder.string(), bytes, offsets, labels);
  PackedGraphs packed = packed_sequences(at::tensor(offsets, at::kLong), at::tensor(labels, at::kLong), classes);
  packed.node_categories = at::tensor(bytes, at::kLong).unsqueeze(1);
  packed.schema.node_vocabulary = {256};
  packed.split = split;
  check_packed_graphs(packed, folder.string());
  return packed;
}

}  // namespace geosft
