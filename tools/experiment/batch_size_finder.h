// SPDX-License-Identifier: Apache-2.0
// Finds the largest batch size that fits in memory, to name it when a training or an evaluation runs out of memory.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "models/training/distributed/communicator.h"
#include "tools/experiment/training_run.h"

namespace geosft {

// Trains with batches of the global size `size`, in the unit of a BatchLimit, split over `processes`. Returns false if
// a signal arrived.
using TrainBatches = std::function<bool(int64_t size, RunStart start, const Communicator& processes)>;

// Calls train(limit.size, start, processes). If it runs out of memory, tries single steps with that size, half of it, a
// quarter, …, and throws an error that names the largest one that fits. With several processes, each one that ran out
// of memory tries alone, with its share of the batch.
bool train_within_memory(const BatchLimit& limit, RunStart start, const Communicator& processes,
                         const TrainBatches& train);

// Called after every batch with the number of items done.
using BatchProgress = std::function<void(int64_t done)>;

// If `error` is an out-of-memory error, throws another one that names the largest of `batch_size`, half of it, a
// quarter, …, for which evaluate(batch_size, progress) completes its first batch.
void refuse_large_batch(const std::exception_ptr& error, int64_t batch_size,
                        const std::function<void(int64_t batch_size, const BatchProgress& progress)>& evaluate);

// Calls evaluate(batch_size, progress); `progress` may be empty. Handles out-of-memory errors by refuse_large_batch.
template <class Evaluate>
auto evaluate_within_memory(int64_t batch_size, const BatchProgress& progress, const Evaluate& evaluate) {
  const auto heard = [&](int64_t done) {
    if (progress) progress(done);
  };
  std::exception_ptr error;
  try {
    return evaluate(batch_size, BatchProgress(heard));
  } catch (...) {
    error = std::current_exception();
  }
  // Outside the handler, where the memory of the evaluation has been freed.
  refuse_large_batch(error, batch_size, evaluate);
  std::rethrow_exception(error);
}

}  // namespace geosft
