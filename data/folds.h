// SPDX-License-Identifier: Apache-2.0
// Splits for cross-validation.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// The fold of every item, int64 [N] in 0 … folds - 1, 2 <= folds <= N: items of one label are spread over the folds at
// random, so that each fold holds as many of them as any other, or one more; so it is with all items. `labels` int64
// [N]. A function of labels, folds and seed alone.
at::Tensor stratified_folds(const at::Tensor& labels, int64_t folds, uint64_t seed);

}  // namespace geosft
