// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sampling_context.h"

#include "geometry/packed.h"
#include "models/ops/philox.h"
#include "models/ops/sample_pairs.h"
#include "models/ops/seeded_dropout.h"

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
  if (mode_ == SampleMode::random) return draw_seeds(items, generator_).to(device, /*non_blocking=*/true);
  const int64_t seed = static_cast<int64_t>(philox(vote_, draws_++, 0).first() >> 1);
  return at::full({items}, seed, at::TensorOptions().dtype(at::kLong).device(device));
}

void SamplingContext::record_choices(int64_t items) {
  choices_ = at::zeros({items}, at::kLong);
}

void SamplingContext::note_choice(const at::Tensor& first, const at::Tensor& second,
                                  const std::optional<at::Tensor>& ptr) {
  if (!choices_.defined()) return;
  // Odd constants with many changes of bits; a sum over the mixed pairs does not depend on their order.
  at::Tensor mixed = first * 0x1E3779B97F4A7C15 + second * 0x3F58476D1CE4E5B9;
  mixed = mixed.bitwise_xor(mixed.__rshift__(29)) * 0x14D049BB133111EB;
  mixed = mixed.bitwise_xor(mixed.__rshift__(32)).cpu();
  const at::Tensor item = item_of_row(packed_offsets(ptr, mixed.size(0), "ptr"));
  choices_ = (choices_ * 0x2545F4914F6CDD1D).index_add(0, item, mixed);
}

at::Tensor SamplingContext::dropout(const at::Tensor& x, double probability) {
  if (mode_ != SampleMode::random || probability == 0.0) return x;
  return seeded_dropout(x, probability, static_cast<uint64_t>(draw_seeds(1, generator_).item<int64_t>()));
}

}  // namespace geosft
