// SPDX-License-Identifier: Apache-2.0
// A task whose batches come from a loader, and batches that are split over several processes.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <utility>

#include "data/batch_shard.h"
#include "models/layers/rng_buffer.h"
#include "models/layers/sampling_context.h"
#include "models/training/distributed/communicator.h"
#include "models/training/training_task.h"
#include "tools/experiment/main_guard.h"

namespace geosft {

// Returns the loader's shard of this process.
BatchShard shard_of(const Communicator& processes);

// Gathers the sizes of all items for a training pass over this process's slice of a batch; all processes must call it.
// Statistics of batch normalisation are summed over the processes, which must outlive the backward pass.
// ptr is int64 [items + 1], or has the same number of entries for each item (the two documents of a pair).
SamplingContext shared_context(RngBuffer& seeds, const Communicator& processes, const BatchSlice& place,
                               const at::Tensor& ptr);

// Returns the same for a slice of a batch that this process holds entirely, packed by whole_ptr.
SamplingContext part_context(RngBuffer& seeds, const BatchSlice& place, const at::Tensor& whole_ptr);

// A task for the training loop: a derived class takes its batches from `loader_`, and computes loss and metric.
template <class Loader>
class LoaderTask : public ReplayableTask {
 public:
  int64_t steps_per_epoch() const override { return loader_.batches_per_epoch(); }
  void start_epoch(int64_t epoch, int64_t first_step) override { loader_.start_epoch(epoch, first_step); }
  double seconds_waited() const override { return loader_.seconds_waited(); }
  // Throws Interrupted if a signal arrives meanwhile.
  std::optional<MetricSum> validate() override {
    const std::optional<Means> means =
        validation([](int64_t) { throw_if_interrupted("in the middle of a validation"); });
    if (!means) return std::nullopt;
    const auto items = static_cast<double>(means->items);
    return MetricSum{means->loss * items, means->score * items, means->items};
  }

 protected:
  // The processes, among which each batch is split, must outlive the task. The arguments are those of the loader.
  template <class... Arguments>
  explicit LoaderTask(const Communicator& processes, Arguments&&... arguments)
      : processes_(processes), loader_(std::forward<Arguments>(arguments)...) {}

  // The means of loss and metric over the items of the validation split.
  struct Means {
    double loss, score;
    int64_t items;
  };
  // Evaluates the validation split, without rotations and with one vote, which is enough for a learning curve; nullopt
  // if there is none. `progress` is to be called meanwhile.
  virtual std::optional<Means> validation(const std::function<void(int64_t)>& progress) = 0;

  const Communicator& processes_;
  Loader loader_;
};

}  // namespace geosft
