// SPDX-License-Identifier: Apache-2.0
// Compares the losses of training with polynomial attention and with exact attention.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/layers/polynomial_self_attention.h"
#include "tools/bench/byte_classifier.h"

namespace geosft::bench {

struct FollowOptions {
  int64_t width = 32, heads = 4, layers = 2;
  PolynomialOptions polynomial;
  int64_t steps = 60, batch = 2;
  double learning_rate = 1e-3;
  int64_t prompt_tokens = 8, prompt_steps = 20;  // 0 steps: no prompt is tuned
  double prompt_rate = 0.1;
  uint64_t seed = 0;
};

// The losses of all steps and the time of the fastest step.
struct LossCurve {
  std::vector<double> losses;
  double seconds = 0;
};

struct Followed {
  LossCurve polynomial, exact;
  double largest_difference() const;  // maximum over the steps of the difference of the losses
};

struct FollowResult {
  Followed training;  // training of all weights, from the same initialization
  Followed prompt;    // tuning of a prompt, with the weights trained with polynomial attention frozen
  std::vector<PolynomialDegree> degrees;  // of the trained layers on one more batch
};

// Trains two classifiers alternately on the same batches, cycling through the documents in order. Then tunes a prompt
// for the frozen weights, once with each attention. `progress` receives the number of finished steps, and may throw.
FollowResult follow(const ByteDocuments& documents, const FollowOptions& options,
                    const std::function<void(int64_t)>& progress);

}  // namespace geosft::bench
