// SPDX-License-Identifier: Apache-2.0
// Scaling of time and memory of attention and of random walks with the number of tokens or nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/bench/measurement.h"

namespace geosft::bench {

// The exponent e of the power law y = a x^e fitted to the points by least squares of the logarithms. Throws for fewer
// than two points, or for numbers that are not positive.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

struct Scaling {
  std::vector<int64_t> tokens;            // of one item
  std::vector<Measurement> measurements;  // "scaling/n<tokens>", one each
  double time_exponent = 0;               // of the minimum
  double memory_exponent = 0;             // of the peak beyond inputs, results and gradients included
};

// The geosft operators whose size is varied, forward and backward, for one item of sizes.tokens tokens or nodes. Graphs
// use only sparse storage.
using ScaledImplementation = std::function<Implementation(const Sizes&)>;
ScaledImplementation maxout_over_keys(int64_t keys);
ScaledImplementation polynomial_over_all(int64_t degree);
ScaledImplementation graph_attention_over_keys(int64_t keys);  // of a random graph, 8 edges a node
ScaledImplementation walks_on_grid();  // random_walk_pe, 20 steps, on a graph of 4 edges a node; forward alone

// Measures time and memory for 1024, 4096, … tokens up to and including `max_tokens`, with the width and heads of
// `sizes`. `progress` gets the number of tokens before each measurement.
Scaling measure_scaling(const ScaledImplementation& implementation, const Sizes& sizes, int64_t max_tokens,
                        const TimingOptions& options, const TileRates& rates,
                        const std::function<void(int64_t)>& progress);

std::string scaling_text(const Scaling& scaling);

}  // namespace geosft::bench
