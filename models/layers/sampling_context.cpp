// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sampling_context.h"

#include <algorithm>

#include "geometry/device_offsets.h"
#include "geometry/packed.h"
#include "geometry/philox.h"
#include "models/layers/rng_buffer.h"
#include "models/ops/sample_pairs.h"
#include "models/ops/seeded_dropout.h"

namespace geosft {

SamplingContext SamplingContext::training(at::Generator generator, WholeBatch whole) {
  SamplingContext context;
  TORCH_CHECK(whole.first >= 0 && (whole.sizes.empty() || whole.first < static_cast<int64_t>(whole.sizes.size())),
              "whole.first must be one of the ", whole.sizes.size(), " items of the batch, got ", whole.first);
  context.whole_ = std::move(whole);
  context.mode_ = SampleMode::random;
  context.generator_ = std::move(generator);
  return context;
}

SamplingContext SamplingContext::training(RngBuffer& buffer, WholeBatch whole) {
  SamplingContext context = training(buffer.generator(), std::move(whole));
  context.buffer_ = &buffer;
  return context;
}

SamplingContext SamplingContext::seeded(uint64_t vote) {
  SamplingContext context;
  context.mode_ = SampleMode::seeded;
  context.votes_ = {vote};
  return context;
}

SamplingContext SamplingContext::seeded_items(std::vector<uint64_t> votes) {
  TORCH_CHECK(!votes.empty(), "votes must have one for each item, got none");
  SamplingContext context;
  context.mode_ = SampleMode::seeded;
  context.votes_ = std::move(votes);
  context.per_item_ = true;
  return context;
}

SamplingContext SamplingContext::greedy() {
  return SamplingContext();
}

at::Tensor SamplingContext::next_seeds(int64_t items, at::Device device) {
  if (mode_ == SampleMode::random) {
    return random_rows(items, [&](int64_t count) { return seeds_on(count, device); });
  }
  const auto seed_of = [sampling = samplings_++](uint64_t vote) {
    return static_cast<int64_t>(philox(vote, sampling, 0).first() >> 1);
  };
  if (!per_item_) return at::full({items}, seed_of(votes_[0]), at::dtype(at::kLong).device(device));
  const auto count = static_cast<int64_t>(votes_.size());
  TORCH_CHECK(items == count, "votes must have one for each of the ", items, " items, got ", count);
  const at::Tensor seeds = at::empty({items}, at::kLong);
  std::transform(votes_.begin(), votes_.end(), seeds.mutable_data_ptr<int64_t>(), seed_of);
  return copy_to_device(seeds, device);
}

at::Tensor SamplingContext::seeds_on(int64_t count, at::Device device) const {
  if (buffer_ == nullptr) return copy_to_device(sample_seeds(count, generator_), device);
  TORCH_CHECK(device == buffer_->device(), "device must be that of the buffer, ", buffer_->device(), ", got ", device);
  return buffer_->next(count);
}

at::Tensor SamplingContext::random_rows(int64_t items, const std::function<at::Tensor(int64_t)>& sample) const {
  if (whole_.sizes.empty()) return sample(items);
  const int64_t all = static_cast<int64_t>(whole_.sizes.size());
  TORCH_CHECK(whole_.first + items <= all, "a part of ", items, " items from item ", whole_.first,
              " on does not lie in a batch of ", all);
  return sample(all).narrow(0, whole_.first, items);
}

int64_t SamplingContext::rows_before(const std::function<int64_t(int64_t)>& rows_of) const {
  int64_t rows = 0;
  for (int64_t item = 0; item < whole_.first; ++item) rows += rows_of(whole_.sizes[static_cast<size_t>(item)]);
  return rows;
}

void SamplingContext::record_choices(int64_t items) {
  choices_ = at::zeros({items}, at::kLong);
}

void SamplingContext::note_choice(const at::Tensor& first, const at::Tensor& second,
                                  const std::optional<at::Tensor>& ptr) {
  if (!choices_.defined()) return;
  // Hashes with odd multipliers; the sum over the hashed pairs does not depend on their order.
  at::Tensor mixed = first * 0x1E3779B97F4A7C15 + second * 0x3F58476D1CE4E5B9;
  mixed = mixed.bitwise_xor(mixed.__rshift__(29)) * 0x14D049BB133111EB;
  mixed = mixed.bitwise_xor(mixed.__rshift__(32)).cpu();
  const at::Tensor item = item_of_row(packed_offsets(ptr, mixed.size(0), "ptr"));
  choices_ = (choices_ * 0x2545F4914F6CDD1D).index_add(0, item, mixed);
}

at::Tensor SamplingContext::dropout(const at::Tensor& x, double probability, std::optional<int64_t> before) {
  if (mode_ != SampleMode::random || probability == 0.0) return x;
  const int64_t rows = before ? *before : rows_before([](int64_t tokens) { return tokens; });
  return seeded_dropout(x, probability, seeds_on(1, x.device()), x.size(0) == 0 ? 0 : rows * (x.numel() / x.size(0)));
}

}  // namespace geosft
