// SPDX-License-Identifier: Apache-2.0
// Where the random numbers of one forward pass come from.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace geosft {

struct ForwardTrace;
class SeedTape;

// How a model draws its samples outside training (see SamplerOptions for what training does).
enum class SampleMode {
  random,  // noise and partners from `generator`: training
  seeded,  // the same draw from fixed seeds, one an item and layer: deterministic, the distribution that training saw
  greedy,  // tokens of the largest scores, partners of the next ranks: no random number at all
};

// What a pass over a part of a batch knows of the whole one, where several processes train together: its random numbers
// are then those that one pass over the whole batch would draw for this part.
struct WholeBatch {
  std::vector<int64_t> sizes = {};  // tokens of every item; empty: the pass has the whole batch
  int64_t first = 0;                // item that the part begins with
};

// One forward pass. Modules call `next_seeds` in the order in which they sample.
class SamplingContext {
 public:
  // Training: samples and dropout masks come from `generator`, which moves on as for the whole batch.
  static SamplingContext training(at::Generator generator, WholeBatch whole = {});
  // The same from the generator of `tape`, by way of it; it must outlive the context.
  static SamplingContext training(SeedTape& tape, WholeBatch whole = {});
  // Evaluation: `vote` picks one of many fixed seeds.
  static SamplingContext seeded(uint64_t vote = 0);
  static SamplingContext greedy();

  SampleMode mode() const { return mode_; }
  const std::optional<at::Generator>& generator() const { return generator_; }

  // Seeds int64 [items] of the next draw. In seeded mode all items share one seed, so that an item's sample does not
  // depend on its place in the batch.
  at::Tensor next_seeds(int64_t items, at::Device device);

  // draw(n) gives a tensor of n rows from the generator, one an item (or several an item, as many for each): the rows
  // of the `items` of this pass.
  at::Tensor draw_rows(int64_t items, const std::function<at::Tensor(int64_t)>& draw) const;
  // Rows of the items before this part, where an item of n tokens has rows_of(n).
  int64_t rows_before(const std::function<int64_t(int64_t)>& rows_of) const;

  // From now on the pass remembers its choices as one number an item: two passes over the same packed items have chosen
  // the same when the numbers are equal (otherwise they are with a chance of 2^-64 an item).
  void record_choices(int64_t items);
  // int64 [items]; undefined when nothing is recorded.
  const at::Tensor& choices() const { return choices_; }
  // A set of chosen pairs of rows for every item: first, second int64 [m], ptr int64 [items + 1] over them, or none for
  // one item. Their order does not count.
  void note_choice(const at::Tensor& first, const at::Tensor& second, const std::optional<at::Tensor>& ptr);

  // From now on the pass leaves what it did in `trace` (models/layers/forward_trace.h), which must outlive it.
  void trace_into(ForwardTrace& trace) { trace_ = &trace; }
  // Null when nothing is traced.
  ForwardTrace* trace() const { return trace_; }

  // Inverted dropout with the masks of this pass: x unchanged unless training and probability > 0. Rows of x are the
  // tokens, or others of which `before` come in earlier parts of the batch.
  at::Tensor dropout(const at::Tensor& x, double probability, std::optional<int64_t> before = std::nullopt);

 private:
  at::Tensor drawn_on(int64_t count, at::Device device) const;

  SampleMode mode_ = SampleMode::greedy;
  std::optional<at::Generator> generator_;
  SeedTape* tape_ = nullptr;
  WholeBatch whole_;
  uint64_t vote_ = 0;
  uint64_t draws_ = 0;
  at::Tensor choices_;
  ForwardTrace* trace_ = nullptr;
};

}  // namespace geosft
