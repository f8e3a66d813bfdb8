// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sampling_context.h"

#include "models/layers/dropout.h"
#include "models/ops/philox.h"
#include "models/ops/sample_pairs.h"

namespace geosft {

SamplingContext SamplingContext::training(at::Generator generator) {
  SamplingContext context;
  context.mode_ = SampleMode::random;
  context.generator_ = std::move(generator);
  return context;
}

SamplingContext SamplingContext::seeded(uint64_t vote) {
  SamplingContext context;
  context.mode_ = SampleMode::seeded;
  context.vote_ = vote;
  return context;
}

SamplingContext SamplingContext::greedy() {
  return SamplingContext();
}

at::Tensor SamplingContext::next_seeds(int64_t items, at::Device device) {
  if (mode_ == SampleMode::random) return draw_seeds(items, generator_).to(device);
  const int64_t seed = static_cast<int64_t>(philox(vote_, draws_++, 0).first() >> 1);
  return at::full({items}, seed, at::TensorOptions().dtype(at::kLong).device(device));
}

at::Tensor SamplingContext::dropout(const at::Tensor& x, double probability) {
  if (mode_ != SampleMode::random || probability == 0.0) return x;
  return seeded_dropout(x, probability, static_cast<uint64_t>(draw_seeds(1, generator_).item<int64_t>()));
}

}  // namespace geosft
