// SPDX-License-Identifier: Apache-2.0
// Random-walk encodings by simulation, where the exact ones are out of reach.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace geosft {

struct RandomWalkEstimate {
  at::Tensor mean;            // [N, steps], the share of walks that were back; unbiased
  at::Tensor standard_error;  // [N, steps]
};

// An estimate of random_walk_pe, whose arguments these are, from `walks` >= 2 random walks from every node:
// O(N walks steps) steps, whatever the number of edges. Weights must not be negative. A function of `seed` and the
// graph alone. With c of W walks back the standard error is sqrt(p (1 - p) / (W + 4)), p = (c + 2) / (W + 4) (Agresti
// and Coull, 1998): it does not vanish where no walk came back by chance.
RandomWalkEstimate random_walk_pe_estimate(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                                           int64_t walks, uint64_t seed,
                                           const std::optional<at::Tensor>& weight = std::nullopt);

}  // namespace geosft
