// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include "models/ops/sample_pairs.h"

namespace geosft {

// The weight of each bin, differentiable in score [N] (SFT section 4.2, step 3): with z' = score + noise,
// softplus(z'[top])^(1/tau) over its sum with softplus(z'[partner])^(1/tau); finite for every finite score; 1, without
// gradient, where top and partner are one token. On a GPU numbers that are no rows of score count as the nearest row:
// see gather_pairs.
at::Tensor pair_weight(const at::Tensor& score, const DrawnPairs& pairs, double tau);

}  // namespace geosft
