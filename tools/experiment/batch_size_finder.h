// SPDX-License-Identifier: Apache-2.0
// A training or an evaluation that ends for want of memory says with which batch it would not.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "models/training/distributed/communicator.h"
#include "tools/experiment/training_run.h"

namespace geosft {

// Trains with batches of so many items, which `processes` have together; false when a signal came.
using TrainBatches = std::function<bool(int64_t batch_size, RunStart start, const Communicator& processes)>;

// train(batch_size, start, processes). Where memory is too little for it, a single step is tried with that batch, half
// of it, a quarter, …, and an error thrown that names the largest one there is room for. Of several processes, each
// that wants memory tries alone, with its share of the batch.
bool train_within_memory(int64_t batch_size, RunStart start, const Communicator& processes, const TrainBatches& train);

// Hears how much is done after every batch.
using BatchProgress = std::function<void(int64_t done)>;

// Where `error` is one of memory, throws another that names the largest batch, of `batch_size`, half of it, a quarter,
// …, with which evaluate(batch_size, progress) gets as far as its first batch.
void refuse_large_batch(const std::exception_ptr& error, int64_t batch_size,
                        const std::function<void(int64_t batch_size, const BatchProgress& progress)>& evaluate);

// evaluate(batch_size, progress), where `progress` may be empty.
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
  // Here, where the memory of the evaluation is free.
  refuse_large_batch(error, batch_size, evaluate);
  std::rethrow_exception(error);
}

}  // namespace geosft
