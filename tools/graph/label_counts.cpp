// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/label_counts.h"

#include <algorithm>

namespace geosft {
namespace {

struct Counts {
  int64_t known, positive;
};

Counts counts_of(const at::Tensor& labels) {
  return {(~labels.isnan()).sum().item<int64_t>(), labels.eq(1).sum().item<int64_t>()};
}

std::string split_text(const char* name, const at::Tensor& column, const std::vector<int64_t>& items, bool classes) {
  const Counts found = counts_of(column.index_select(0, at::tensor(items, at::kLong)));
  std::string text = std::string(name) + " " + std::to_string(found.known);
  if (classes && found.known > 0) text += " (" + std::to_string(found.positive) + " of 1)";
  return text;
}

}  // namespace

std::vector<std::string> label_lines(const PackedItems& graphs, const std::optional<DatasetSplit>& split,
                                     size_t max_lines) {
  const ItemSchema& schema = graphs.schema;
  const bool classes = schema.task == GraphTask::multi_label;
  if (!classes && schema.task != GraphTask::regression) return {};
  std::vector<std::string> lines;
  for (size_t label = 0; label < std::min(schema.output_names.size(), max_lines); ++label) {
    const at::Tensor column = graphs.target.select(1, static_cast<int64_t>(label));
    const auto [known, ones] = counts_of(column);
    std::string line = "\"" + schema.output_names[label] + "\": " + std::to_string(known) + " known";
    if (classes) line += " (" + std::to_string(ones) + " of 1, " + std::to_string(known - ones) + " of 0)";
    line += ", " + std::to_string(column.numel() - known) + " unknown";
    if (split) {
      line += "; " + split_text("train", column, split->train, classes) + ", " +
              split_text("validation", column, split->validation, classes) + ", " +
              split_text("test", column, split->test, classes);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace geosft
