// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/points/point_dataset.h"

namespace geosft {

// Some rows of a dataset as a dataset of its own; `whole` must outlive it.
class PointSubset : public PointDataset {
 public:
  // Throws std::out_of_range for a row outside of `whole`.
  PointSubset(const PointDataset& whole, std::vector<int64_t> rows);

  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  Shape get(int64_t index) const override { return whole_.get(rows_.at(static_cast<size_t>(index))); }
  int64_t label(int64_t index) const override { return whole_.label(rows_.at(static_cast<size_t>(index))); }
  const std::vector<std::string>& class_names() const override { return whole_.class_names(); }
  bool has_normals() const override { return whole_.has_normals(); }
  std::string file_without_normals() const override { return whole_.file_without_normals(); }

 private:
  const PointDataset& whole_;
  std::vector<int64_t> rows_;
};

// Splits the rows of a dataset in two, the same share of every class (rounded to the nearest count) in `second`, at
// random by the seed; both in ascending order.
std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const PointDataset& dataset, double second_share,
                                                                       uint64_t seed);

}  // namespace geosft
