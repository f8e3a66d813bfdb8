// SPDX-License-Identifier: Apache-2.0
// Cost of the layers of the primal-dual family by the number of tokens.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/layers/primal_self_attention.h"
#include "tools/bench/measurement.h"

namespace geosft {

// Multiply-adds of one forward pass over an item of `tokens`: the maps of queries and results, those of keys and values
// over pooled tokens, convolutions, and two products a channel of every pair that a head looks at; for linear attention
// those of sums of features instead. Pooling, exponentials and divisions are not counted. Masks: windows alone.
double primal_multiply_adds(const PrimalOptions& options, int64_t width, int64_t heads, int64_t tokens);

struct FamilyCost {
  std::string attention;  // one of primal_names()
  int64_t tokens;
  double multiply_adds;  // forward
  double seconds;        // of one item, the least of several
  double bytes;          // of tensors beyond the inputs
};

// The layer of each name over one item of so many tokens, which conv2d takes as the squarest grid there is: Pass::both
// is a step of training, Pass::forward inference, without a record for autograd. `told` is given each result as it
// comes; it may throw.
std::vector<FamilyCost> family_costs(const std::vector<std::string>& names, const bench::Sizes& sizes,
                                     const std::vector<int64_t>& tokens, bench::Pass pass,
                                     const bench::TimingOptions& options,
                                     const std::function<void(const FamilyCost&)>& told);

}  // namespace geosft
