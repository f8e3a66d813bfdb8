// SPDX-License-Identifier: Apache-2.0
#include "data/point_subset.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "data/point_loader.h"

namespace geosft {

PointSubset::PointSubset(const PointDataset& whole, std::vector<int64_t> rows) : whole_(whole), rows_(std::move(rows)) {
  for (const int64_t row : rows_) {
    if (row < 0 || row >= whole.size()) {
      throw std::out_of_range("row " + std::to_string(row) + " of a dataset of " + std::to_string(whole.size()));
    }
  }
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const PointDataset& dataset, double second_share,
                                                                       uint64_t seed) {
  std::vector<int64_t> present(dataset.class_names().size(), 0);
  for (int64_t row = 0; row < dataset.size(); ++row) ++present[static_cast<size_t>(dataset.label(row))];
  std::vector<int64_t> wanted(present.size());
  std::transform(present.begin(), present.end(), wanted.begin(), [&](int64_t count) {
    return static_cast<int64_t>(std::llround(second_share * static_cast<double>(count)));
  });
  std::pair<std::vector<int64_t>, std::vector<int64_t>> parts;
  for (const int64_t row : epoch_order(dataset.size(), /*shuffle=*/true, seed, /*epoch=*/0)) {
    int64_t& left = wanted[static_cast<size_t>(dataset.label(row))];
    (left > 0 ? parts.second : parts.first).push_back(row);
    left -= left > 0 ? 1 : 0;
  }
  std::sort(parts.first.begin(), parts.first.end());
  std::sort(parts.second.begin(), parts.second.end());
  return parts;
}

}  // namespace geosft
