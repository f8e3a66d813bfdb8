// SPDX-License-Identifier: Apache-2.0
// Batches that several processes share: what the tasks of the tools have in common.
#pragma once

#include <ATen/ATen.h>

#include "data/batch_shard.h"
#include "models/layers/rng_buffer.h"
#include "models/layers/sampling_context.h"
#include "models/training/distributed/communicator.h"

namespace geosft {

// Of a loader.
BatchShard share_of(const Communicator& processes);

// For a training pass over a loader's batch packed by ptr int64 [items + 1], or several entries an item, as many for
// each (the two documents of a pair). All processes call it together: each learns the sizes of all items.
SamplingContext shared_context(RngBuffer& seeds, const Communicator& processes, const BatchSlice& place,
                               const at::Tensor& ptr);

// The same for a part of a batch that this process has whole, packed by whole_ptr.
SamplingContext part_context(RngBuffer& seeds, const BatchSlice& place, const at::Tensor& whole_ptr);

}  // namespace geosft
