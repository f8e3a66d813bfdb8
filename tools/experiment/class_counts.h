// SPDX-License-Identifier: Apache-2.0
// Computes recall, precision and F1 of each class from a confusion matrix.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace geosft {

// Counts how often a class occurs and is predicted.
struct ClassCounts {
  std::string name;
  int64_t items = 0, predicted = 0, right = 0;
  std::vector<int64_t> guesses;  // how often its items got each class

  // Return no value where the share is of nothing.
  std::optional<double> recall() const { return share(right, items); }
  std::optional<double> precision() const { return share(right, predicted); }
  std::optional<double> f1() const { return share(2 * right, items + predicted); }

 private:
  static std::optional<double> share(int64_t part, int64_t whole) {
    if (whole == 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
  }
};

// Returns the counts of each class: confusion integer [classes, classes], rows: true class.
std::vector<ClassCounts> class_counts(const at::Tensor& confusion, const std::vector<std::string>& names);

// Formats a share in percent, and a missing one as "-".
std::string share_text(const std::optional<double>& share);

// Returns the counts as a table, the first row its heading: class, `items` (such as "clouds"), predicted, recall,
// precision, F1.
std::vector<std::vector<std::string>> class_rows(const std::vector<ClassCounts>& classes, const std::string& items);

}  // namespace geosft
