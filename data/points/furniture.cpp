// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <algorithm>
#include <array>
#include <set>

#include "data/points/furniture_labels.h"
#include "data/read_file.h"

namespace geosft {
namespace {

struct Row {
  std::string library, model, class_name, split;
};

// Parses the columns library, model, class, split, name; only the last may contain commas.
std::vector<Row> label_rows() {
  std::vector<Row> rows;
  const std::string_view text = furniture_labels;
  for (size_t begin = text.find('\n') + 1; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty()) continue;
    std::array<std::string, 4> column;
    for (std::string& value : column) {
      const size_t comma = std::min(line.find(','), line.size());
      value = line.substr(0, comma);
      line.remove_prefix(std::min(comma + 1, line.size()));
    }
    rows.push_back({column[0], column[1], column[2], column[3]});
  }
  return rows;
}

}  // namespace

DatasetListing list_furniture(Split split, const std::filesystem::path& folder) {
  const std::vector<Row> rows = label_rows();
  std::set<std::string> classes;
  for (const Row& row : rows) classes.insert(row.class_name);
  DatasetListing listing;
  listing.class_names.assign(classes.begin(), classes.end());
  for (const Row& row : rows) {
    if (row.split != (split == Split::train ? "train" : "test")) continue;
    const std::filesystem::path file = folder / (row.library + ".sh3f");
    if (!std::filesystem::is_regular_file(file)) {
      throw DataError(file.string(), "the models of the furniture set (apt-get install sweethome3d-furniture)",
                      "no such file");
    }
    const auto label = std::distance(classes.begin(), classes.find(row.class_name));
    listing.items.push_back({row.library + "/" + row.model, label, file, row.model});
  }
  return listing;
}

}  // namespace geosft
