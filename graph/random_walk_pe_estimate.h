// SPDX-License-Identifier: Apache-2.0
// Monte Carlo estimate of random-walk encodings, for graphs on which the exact ones are too expensive.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace geosft {

struct RandomWalkEstimate {
  at::Tensor mean;            // [N, steps], the share of walks that were back; unbiased
  at::Tensor standard_error;  // [N, steps]
};

// Estimates random_walk_pe (same arguments) from `walks` >= 2 random walks from each node: O(N walks steps) steps,
// independent of the number of edges. A function of `seed` and the graph alone. If c of W walks return, the standard
// error is sqrt(p (1 - p) / (W + 4)) with p = (c + 2) / (W + 4) (Agresti and Coull, 1998), which does not vanish if no
// walk happens to return.
RandomWalkEstimate random_walk_pe_estimate(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                                           int64_t walks, uint64_t seed,
                                           const std::optional<at::Tensor>& weight = std::nullopt);

}  // namespace geosft
