// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

// Reads the items of one file; `seen` marks the items of all files.
std::vector<int64_t> read_items(const std::filesystem::path& path, std::vector<bool>& seen) {
  const std::filesystem::path file = file_or_gz(path);
  if (!std::filesystem::exists(file))
    throw DataError(file.string() + " or .gz", "the items of a split", "no such file");
  const std::string text = read_gz_file(file);
  TextLines lines(text, file.string());
  std::vector<int64_t> items;
  while (lines.next()) {
    const int64_t item = lines.integer("the number of an item");
    lines.end_of_line("the number of an item");
    if (item < 0 || item >= static_cast<int64_t>(seen.size())) {
      lines.fail("an item from 0 to " + std::to_string(static_cast<int64_t>(seen.size()) - 1), std::to_string(item));
    }
    if (seen[static_cast<size_t>(item)]) lines.fail("every item once", "item " + std::to_string(item) + " again");
    seen[static_cast<size_t>(item)] = true;
    items.push_back(item);
  }
  return items;
}

}  // namespace

DatasetSplit read_split(const SplitFiles& files, int64_t count) {
  std::vector<bool> seen(static_cast<size_t>(count), false);
  DatasetSplit split;
  split.train = read_items(files.train, seen);
  split.validation = read_items(files.validation, seen);
  split.test = read_items(files.test, seen);
  return split;
}

DatasetSplit restricted_split(const DatasetSplit& split, const std::vector<int64_t>& kept, int64_t count) {
  std::vector<int64_t> place(static_cast<size_t>(count), -1);
  for (size_t i = 0; i < kept.size(); ++i) place[static_cast<size_t>(kept[i])] = static_cast<int64_t>(i);
  const auto kept_of = [&](const std::vector<int64_t>& items) {
    std::vector<int64_t> out;
    for (const int64_t item : items) {
      if (const int64_t now = place[static_cast<size_t>(item)]; now >= 0) out.push_back(now);
    }
    return out;
  };
  return {kept_of(split.train), kept_of(split.validation), kept_of(split.test)};
}

}  // namespace geosft
