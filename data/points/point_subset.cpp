// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_subset.h"

#include <stdexcept>
#include <string>

#include "data/folds.h"

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
  std::vector<int64_t> labels;
  labels.reserve(static_cast<size_t>(dataset.size()));
  for (int64_t row = 0; row < dataset.size(); ++row) labels.push_back(dataset.label(row));
  return stratified_split(labels, second_share, seed);
}

}  // namespace geosft
