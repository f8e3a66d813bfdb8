// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/class_counts.h"

#include "tools/experiment/report_texts.h"

namespace geosft {

std::vector<ClassCounts> class_counts(const at::Tensor& confusion, const std::vector<std::string>& names) {
  const auto count = static_cast<int64_t>(names.size());
  const at::Tensor counts = confusion.to(at::kLong).contiguous();
  std::vector<ClassCounts> classes;
  for (int64_t label = 0; label < count; ++label) {
    const int64_t* const row = counts.const_data_ptr<int64_t>() + label * count;
    classes.push_back({names[static_cast<size_t>(label)],
                       counts[label].sum().item<int64_t>(),
                       counts.select(1, label).sum().item<int64_t>(),
                       row[label],
                       {row, row + count}});
  }
  return classes;
}

std::string share_text(const std::optional<double>& share) {
  return share ? percent(*share) : "-";
}

std::vector<std::vector<std::string>> class_rows(const std::vector<ClassCounts>& classes, const std::string& items) {
  std::vector<std::vector<std::string>> rows = {{"class", items, "predicted", "recall", "precision", "F1"}};
  for (const ClassCounts& one : classes) {
    rows.push_back({one.name, std::to_string(one.items), std::to_string(one.predicted), share_text(one.recall()),
                    share_text(one.precision()), share_text(one.f1())});
  }
  return rows;
}

}  // namespace geosft
