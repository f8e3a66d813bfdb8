// SPDX-License-Identifier: Apache-2.0
// The training of random forests, by XGBoost.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "models/random_forest.h"

namespace geosft {

struct RandomForestOptions {
  int64_t trees = 200;       // of each label
  int64_t first_column = 0;  // columns before it are not used
  uint64_t seed = 0;
};

// Trains trees with at least two rows in a leaf and no other limit: each on 63.2 % of the rows, as many as are
// different in a bootstrap sample, and with a sample of the square root of the number of varying columns at each node,
// of which the one that lowers the squared error most divides it. features: floating [n, columns], mostly 0, NaN is 0.
// labels: 0 or 1, [n, labels], NaN where unknown, which are left out. The result does not depend on the number of
// threads. Throws c10::Error for other shapes, and std::runtime_error for what XGBoost says.
RandomForest fit_random_forest(const at::Tensor& features, const at::Tensor& labels,
                               const RandomForestOptions& options);

}  // namespace geosft
