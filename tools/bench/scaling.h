// SPDX-License-Identifier: Apache-2.0
// How time and memory of attention and of random walks grow with the number of tokens or nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/bench/measurement.h"

namespace geosft::bench {

// The exponent e of the power law y = a x^e through the points, by least squares of the logarithms. Throws for fewer
// than two points, or for numbers that are not positive.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

struct Scaling {
  std::vector<int64_t> tokens;            // of one item
  std::vector<Measurement> measurements;  // "scaling/n<tokens>", one each
  double time_exponent = 0;               // of the minimum
  double memory_exponent = 0;             // of the peak beyond inputs, results and gradients included
};

// What grows: ours, forward and backward, for one item of sizes.tokens tokens or nodes. Of graphs all that is made is
// sparse.
using ScaledContender = std::function<Contender(const Sizes&)>;
ScaledContender maxout_over_keys(int64_t keys);
ScaledContender polynomial_over_all(int64_t degree);
ScaledContender graph_attention_over_keys(int64_t keys);  // of a random graph, 8 edges a node
ScaledContender walks_on_grid();  // random_walk_pe, 20 steps, on a graph of 4 edges a node; forward alone

// Time and memory for 1024, 4096, … tokens up to `max_tokens`, the last one included, with the width and heads of
// `sizes`. `progress` is told the tokens before each.
Scaling measure_scaling(const ScaledContender& contender, const Sizes& sizes, int64_t max_tokens,
                        const TimingOptions& options, const TileRates& rates,
                        const std::function<void(int64_t)>& progress);

std::string scaling_text(const Scaling& scaling);

}  // namespace geosft::bench
