// SPDX-License-Identifier: Apache-2.0
// Provides the random numbers of one forward pass.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace geosft {

struct ForwardTrace;
class RngBuffer;
class StatisticsReducer;

// How a model samples (SamplerOptions has the options of training).
enum class SampleMode {
  random,  // noise and partners from a generator: training
  seeded,  // the same from fixed seeds, one per item and layer: deterministic, with the distribution of training
  greedy,  // the tokens with the largest scores, partners of the next ranks: no random numbers
};

// Describes the whole batch to a pass over a part of it, in distributed training: the random numbers are then those
// that one pass over the whole batch would use for this part.
struct WholeBatch {
  std::vector<int64_t> sizes = {};  // tokens of each item; empty: the pass has the whole batch
  int64_t first = 0;                // first item of the part
};

// One forward pass. Modules call `next_seeds` in the order in which they sample.
class SamplingContext {
 public:
  // Returns the context of training: samples and dropout masks come from `generator`, which advances as for the whole
  // batch.
  static SamplingContext training(at::Generator generator, WholeBatch whole = {});
  // Returns the same with the random numbers of `buffer`, which must outlive the context.
  static SamplingContext training(RngBuffer& buffer, WholeBatch whole = {});
  // Returns the context of an evaluation: `vote` picks one of many fixed seeds.
  static SamplingContext seeded(uint64_t vote = 0);
  // Returns the context of an evaluation of several votes in one pass: item i is sampled as by seeded(votes[i]), so
  // there must be as many items.
  static SamplingContext seeded_items(std::vector<uint64_t> votes);
  static SamplingContext greedy();

  SampleMode mode() const { return mode_; }
  const std::optional<at::Generator>& generator() const { return generator_; }

  // Returns seeds int64 [items] for the next sampling. In seeded mode all items share one seed, but for seeded_items,
  // so that the samples of an item do not depend on its position in the batch.
  at::Tensor next_seeds(int64_t items, at::Device device);

  // Returns the rows of the `items` of this pass, of a tensor of random numbers of the whole batch: sample(n) generates
  // n rows, the same number for each item.
  at::Tensor random_rows(int64_t items, const std::function<at::Tensor(int64_t)>& sample) const;
  // Returns the number of rows of the items before this part, if an item of n tokens has rows_of(n).
  int64_t rows_before(const std::function<int64_t(int64_t)>& rows_of) const;

  // Starts hashing the choices of the pass, one hash per item: two passes over the same packed items made the same
  // choices if the hashes are equal (collisions have a probability of 2^-64 per item).
  void record_choices(int64_t items);
  // Returns int64 [items]; undefined when nothing is recorded.
  const at::Tensor& choices() const { return choices_; }
  // Adds a set of chosen pairs of rows: first, second int64 [m], packed by ptr int64 [items + 1], or none for one item.
  // The order within an item does not matter.
  void note_choice(const at::Tensor& first, const at::Tensor& second, const std::optional<at::Tensor>& ptr);

  // Records the pass from now on in `trace` (models/layers/forward_trace.h), which must outlive the pass.
  void trace_into(ForwardTrace& trace) { trace_ = &trace; }
  // Returns null when nothing is traced.
  ForwardTrace* trace() const { return trace_; }

  // Sets, in distributed training, what sums the statistics of batch normalisation over the processes. Null in one
  // process.
  void sum_statistics_with(std::shared_ptr<StatisticsReducer> reducer) { statistics_ = std::move(reducer); }
  const std::shared_ptr<StatisticsReducer>& statistics() const { return statistics_; }

  // Applies inverted dropout with the masks of this pass; x itself unless training and probability > 0. Rows of x are
  // tokens, or other rows of which `before` belong to earlier parts of the batch.
  at::Tensor dropout(const at::Tensor& x, double probability, std::optional<int64_t> before = std::nullopt);

 private:
  at::Tensor seeds_on(int64_t count, at::Device device) const;

  SampleMode mode_ = SampleMode::greedy;
  std::optional<at::Generator> generator_;
  RngBuffer* buffer_ = nullptr;
  WholeBatch whole_;
  std::vector<uint64_t> votes_ = {0};  // one for all items or, with `per_item_`, one for each
  bool per_item_ = false;
  uint64_t samplings_ = 0;
  at::Tensor choices_;
  ForwardTrace* trace_ = nullptr;
  std::shared_ptr<StatisticsReducer> statistics_;
};

}  // namespace geosft
