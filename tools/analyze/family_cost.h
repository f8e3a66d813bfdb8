// SPDX-License-Identifier: Apache-2.0
// Computes arithmetic and measures time and memory of the primal-dual attention layers for different numbers of tokens.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/layers/primal_self_attention.h"
#include "tools/bench/measurement.h"

namespace geosft {

// Returns the multiply-adds of one forward pass over an item of `tokens`: projections of queries and outputs,
// projections of keys and values over pooled tokens, convolutions, and two products per channel for every query-key
// pair of a head; for linear attention, the products with sums of features instead. Pooling, exponentials and divisions
// are not counted. The only supported masks are windows.
double primal_multiply_adds(const PrimalOptions& options, int64_t width, int64_t heads, int64_t tokens);

struct FamilyCost {
  std::string attention;  // one of primal_names()
  int64_t tokens;
  double multiply_adds;  // forward
  double seconds;        // per item, minimum of several calls
  double bytes;          // peak memory of tensors beyond the inputs
};

// Measures the layer of each name over one item of each number of tokens; conv2d treats them as the grid closest to a
// square. Pass::both is a training step, Pass::forward is inference without autograd. `told` receives each result
// immediately, and may throw.
std::vector<FamilyCost> family_costs(const std::vector<std::string>& names, const bench::Sizes& sizes,
                                     const std::vector<int64_t>& tokens, bench::Pass pass,
                                     const bench::TimingOptions& options,
                                     const std::function<void(const FamilyCost&)>& told);

}  // namespace geosft
