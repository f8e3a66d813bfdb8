// SPDX-License-Identifier: Apache-2.0
// Divides the items of a batch among processes that train together.
#pragma once

#include <cstdint>

namespace geosft {

// Shard `part` of `parts`, one per process. A single process has the whole batch.
struct BatchShard {
  int64_t part = 0, parts = 1;
};

// Range of a shard in the whole batch: items first … first + count - 1 of `all`.
struct BatchSlice {
  int64_t first = 0, count = 0, all = 0;
  bool spare = false;  // the batch has fewer items than shards: this shard repeats an item, which is not counted
};

// Returns the range of a batch of `all` >= 1 items that belongs to a shard. The ranges are contiguous, follow the order
// of the shards, cover every item once and differ in size by at most one. Throws c10::Error unless 0 <= part < parts.
BatchSlice batch_slice(const BatchShard& share, int64_t all);

}  // namespace geosft
