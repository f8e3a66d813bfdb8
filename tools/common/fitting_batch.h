// SPDX-License-Identifier: Apache-2.0
// A training that ends for want of memory says with which batch it would not.
#pragma once

#include <cstdint>
#include <functional>

#include "models/training/communicator.h"
#include "tools/common/training_run.h"

namespace geosft {

// Trains with batches of so many items; false when a signal came.
using TrainBatches = std::function<bool(int64_t batch_size, RunStart start)>;

// train(batch_size, start). Where memory is too little for it, a single step is tried with that batch, half of it, a
// quarter, …, and an error thrown that names the largest one there is room for. Of several processes, errors stay as
// they are.
bool train_within_memory(int64_t batch_size, RunStart start, const Communicator& processes, const TrainBatches& train);

}  // namespace geosft
