// SPDX-License-Identifier: Apache-2.0
// Splits items for cross-validation, stratified by label.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace geosft {

// Assigns each item to a fold: int64 [N] in 0 … folds - 1, 2 <= folds <= N. Items of each label are distributed at
// random so that their counts per fold differ by at most one; the fold sizes also differ by at most one. `labels` is
// int64 [N]. The result depends only on labels, folds and seed.
at::Tensor stratified_folds(const at::Tensor& labels, int64_t folds, uint64_t seed);

// Splits items at random (by `seed`) in two, with the same fraction of each label (rounded to the nearest count) in
// `second`. Both lists of rows are ascending. Labels are >= 0.
std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const std::vector<int64_t>& labels,
                                                                       double second_share, uint64_t seed);

}  // namespace geosft
