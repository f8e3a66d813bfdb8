// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/scaling.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "models/ops/maxout_attention.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/composites.h"

namespace geosft::bench {
namespace {

std::vector<int64_t> token_counts(int64_t maximum) {
  std::vector<int64_t> counts;
  for (int64_t n = std::min<int64_t>(1024, maximum); n < maximum; n *= 4) counts.push_back(n);
  counts.push_back(maximum);
  return counts;
}

}  // namespace

ScaledImplementation maxout_over_keys(int64_t keys) {
  return [keys](const Sizes& sizes) -> Implementation {
    const PackedInputs in = random_inputs(sizes, keys);
    const auto forward = [in] {
      return maxout_attention(in.q, in.k, in.v, in.leak, std::nullopt, std::nullopt, in.q_ptr, in.k_ptr, attention_eps);
    };
    return {"geosft", measured_pass(Pass::both, {in.q, in.k, in.v, in.leak}, in.grad_output, forward),
            maxout_both_work(attention_shape(sizes, keys))};
  };
}

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  TORCH_CHECK(x.size() == y.size() && x.size() >= 2, "x and y: expected two or more points, got ", x.size(), " and ",
              y.size());
  double mean_x = 0, mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    TORCH_CHECK(x[i] > 0 && y[i] > 0, "x and y must be positive, got ", x[i], " and ", y[i]);
    mean_x += std::log(x[i]) / static_cast<double>(x.size());
    mean_y += std::log(y[i]) / static_cast<double>(y.size());
  }
  double products = 0, squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    products += dx * (std::log(y[i]) - mean_y);
    squares += dx * dx;
  }
  TORCH_CHECK(squares > 0, "x: expected two different numbers");
  return products / squares;
}

Scaling measure_scaling(const ScaledImplementation& implementation, const Sizes& sizes, int64_t max_tokens,
                        const TimingOptions& options, const TileRates& rates,
                        const std::function<void(int64_t)>& progress) {
  Scaling scaling;
  std::vector<double> counts, seconds, bytes;
  for (const int64_t tokens : token_counts(max_tokens)) {
    progress(tokens);
    Sizes one = sizes;
    one.batch = 1;
    one.tokens = tokens;
    const Benchmark benchmark{
        "scaling/n" + std::to_string(tokens), {implementation(one)}, static_cast<double>(tokens), "tokens"};
    const Measurement measured = measure(benchmark, options, rates).front();
    scaling.tokens.push_back(tokens);
    scaling.measurements.push_back(measured);
    counts.push_back(static_cast<double>(tokens));
    seconds.push_back(measured.timing.minimum);
    bytes.push_back(static_cast<double>(measured.peak_bytes));
  }
  scaling.time_exponent = fitted_exponent(counts, seconds);
  scaling.memory_exponent = fitted_exponent(counts, bytes);
  return scaling;
}

std::string scaling_text(const Scaling& scaling) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << "from " << scaling.tokens.front() << " to " << scaling.tokens.back()
       << " tokens time grows with exponent " << scaling.time_exponent << ", memory with " << scaling.memory_exponent
       << "\n";
  return text.str();
}

}  // namespace geosft::bench
