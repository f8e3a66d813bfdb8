// SPDX-License-Identifier: Apache-2.0
// Batches that several processes share: what the tasks of the tools have in common.
#pragma once

#include <ATen/ATen.h>

#include "data/batch_share.h"
#include "models/layers/sampling_context.h"
#include "models/layers/seed_tape.h"
#include "models/training/communicator.h"

namespace geosft {

// Of a loader.
BatchShare share_of(const Communicator& processes);

// For a training pass over a loader's batch packed by ptr int64 [items + 1], or several entries an item, as many for
// each (the two documents of a pair). All processes call it together: each learns the sizes of all items.
SamplingContext shared_context(SeedTape& seeds, const Communicator& processes, const BatchPlace& place,
                               const at::Tensor& ptr);

// The same for a part of a batch that this process has whole, packed by whole_ptr.
SamplingContext part_context(SeedTape& seeds, const BatchPlace& place, const at::Tensor& whole_ptr);

}  // namespace geosft
