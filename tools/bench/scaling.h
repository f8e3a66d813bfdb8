// SPDX-License-Identifier: Apache-2.0
// Measures how time and memory of attention and of random walks scale with the number of tokens or nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/bench/measurement.h"

namespace geosft::bench {

// Returns the exponent e of the power law y = a x^e, fitted by least squares of the logarithms. Throws for fewer than
// two points, or for numbers that are not positive.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

struct Scaling {
  std::vector<int64_t> tokens;            // per item
  std::vector<Measurement> measurements;  // "scaling/n<tokens>", one each
  double time_exponent = 0;               // of the minimum time
  double memory_exponent = 0;             // of the peak memory beyond inputs, including results and gradients
};

// Create the geosft operators to be scaled, forward and backward, for one item of sizes.tokens tokens or nodes. Graphs
// are stored only in sparse form.
using ScaledImplementation = std::function<Implementation(const Sizes&)>;
ScaledImplementation maxout_over_keys(int64_t keys);
ScaledImplementation polynomial_over_all(int64_t degree);
ScaledImplementation graph_attention_over_keys(int64_t keys);  // on a random graph with 8 edges per node
ScaledImplementation walks_on_grid();  // random_walk_pe, 20 steps, on a graph with 4 edges per node; forward only

// Measures time and memory for 1024, 4096, … tokens up to and including `max_tokens`, with the width and heads of
// `sizes`. `progress` receives the number of tokens before each measurement.
Scaling measure_scaling(const ScaledImplementation& implementation, const Sizes& sizes, int64_t max_tokens,
                        const TimingOptions& options, const TileRates& rates,
                        const std::function<void(int64_t)>& progress);

std::string scaling_text(const Scaling& scaling);

}  // namespace geosft::bench
