// SPDX-License-Identifier: Apache-2.0
// Helpers of the tools' tasks for batches that are split over several processes.
#pragma once

#include <ATen/ATen.h>

#include "data/batch_shard.h"
#include "models/layers/rng_buffer.h"
#include "models/layers/sampling_context.h"
#include "models/training/distributed/communicator.h"

namespace geosft {

// Returns the loader's shard of this process.
BatchShard share_of(const Communicator& processes);

// Gathers the sizes of all items for a training pass over this process's slice of a batch; all processes must call it.
// Statistics of batch normalisation are summed over the processes, which must outlive the backward pass.
// ptr is int64 [items + 1], or has the same number of entries for each item (the two documents of a pair).
SamplingContext shared_context(RngBuffer& seeds, const Communicator& processes, const BatchSlice& place,
                               const at::Tensor& ptr);

// Same for a slice of a batch that this process holds entirely, packed by whole_ptr.
SamplingContext part_context(RngBuffer& seeds, const BatchSlice& place, const at::Tensor& whole_ptr);

}  // namespace geosft
