// SPDX-License-Identifier: Apache-2.0
// Splits items for cross-validation, stratified by label.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace geosft {

// The fold of every item, int64 [N] in 0 … folds - 1, 2 <= folds <= N: items of one label are spread over the folds at
// random, so that each fold holds as many of them as any other, or one more; so it is with all items. `labels` int64
// [N]. A function of labels, folds and seed alone.
at::Tensor stratified_folds(const at::Tensor& labels, int64_t folds, uint64_t seed);

// Splits items in two, the same share of every label (rounded to the nearest count) in `second`, at random by the seed;
// the rows of both in ascending order. labels: 0 and above.
std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const std::vector<int64_t>& labels,
                                                                       double second_share, uint64_t seed);

}  // namespace geosft
