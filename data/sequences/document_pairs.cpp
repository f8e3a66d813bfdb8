// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <map>

#include "data/data_error.h"
#include "data/read_file.h"
#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

enum Field { label_field, first_id, second_id, first_text, second_text, field_count };

// Splits the current line into its fields.
std::array<std::string_view, field_count> pair_fields(const LineStream& lines) {
  std::array<std::string_view, field_count> fields;
  std::string_view line = lines.whole_line();
  for (int field = 0; field < field_count; ++field) {
    const size_t end = field + 1 < field_count ? line.find('\t') : line.size();
    if (end == line.npos) lines.fail("label<TAB>id<TAB>id<TAB>text<TAB>text", std::to_string(field) + " tabs");
    fields[field] = trimmed(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  if (fields[label_field].empty()) lines.fail("label<TAB>id<TAB>id<TAB>text<TAB>text", "no label");
  return fields;
}

struct Pairs {
  int64_t max_length;
  std::vector<uint8_t> categories;
  std::vector<int64_t> offsets{0};
  std::vector<std::string> labels;
  int64_t empty = 0;  // documents that were empty

  void add(std::string_view text, uint8_t document) {
    empty += text.empty();
    if (text.empty()) text = " ";
    for (const char byte : max_length > 0 ? text.substr(0, static_cast<size_t>(max_length)) : text) {
      categories.push_back(static_cast<unsigned char>(byte));
      categories.push_back(document);
    }
  }
};

// Appends the pairs of a file and returns their item indices.
std::vector<int64_t> append_pairs(const fs::path& file, Pairs& all) {
  const auto first = static_cast<int64_t>(all.labels.size());
  LineStream lines(file);
  while (lines.next()) {
    const auto fields = pair_fields(lines);
    all.add(fields[first_text], 0);
    all.add(fields[second_text], 1);
    all.labels.emplace_back(fields[label_field]);
    all.offsets.push_back(static_cast<int64_t>(all.categories.size()) / 2);
  }
  if (first == static_cast<int64_t>(all.labels.size())) throw DataError(file.string(), "pairs of documents", "none");
  return item_range(first, static_cast<int64_t>(all.labels.size()));
}

}  // namespace

bool is_document_pairs(const fs::path& folder) {
  return !only_file(folder, ".train.tsv").empty();
}

PackedItems read_document_pairs(const fs::path& folder, int64_t max_length) {
  const std::string train = only_file(folder, ".train.tsv").string();
  const std::string name = train.substr(0, train.size() - std::string_view("train.tsv").size());
  Pairs all{max_length, {}, {0}, {}, 0};
  DatasetSplit split;
  split.train = append_pairs(train, all);
  std::map<std::string, int64_t> classes;
  for (const std::string& label : all.labels) classes[label] = 0;
  if (fs::exists(name + "eval.tsv")) split.validation = append_pairs(name + "eval.tsv", all);
  split.test = append_pairs(name + "test.tsv", all);
  std::vector<std::string> names;
  for (auto& [label, place] : classes) {
    place = static_cast<int64_t>(names.size());
    names.push_back(label);
  }
  std::vector<int64_t> targets;
  for (const std::string& label : all.labels) {
    const auto found = classes.find(label);
    if (found == classes.end()) throw DataError(folder.string(), "labels of the training split", "'" + label + "'");
    targets.push_back(found->second);
  }
  PackedItems packed = packed_sequences(at::tensor(all.offsets, at::kLong), at::tensor(targets, at::kLong), names);
  packed.node_categories = byte_categories(std::move(all.categories), 2);
  packed.schema.node_vocabulary = {256, 2};
  packed.schema.documents = true;
  packed.split = split;
  if (all.empty > 0) packed.warnings = {empty_texts_warning(folder, all.empty)};
  check_packed_items(packed, folder.string());
  return packed;
}

}  // namespace geosft
