// SPDX-License-Identifier: Apache-2.0
// Divides the items of a batch among processes that train together.
#pragma once

#include <cstdint>

namespace geosft {

// Shard `part` of `parts`, one for each process. A single process has the whole batch.
struct BatchShard {
  int64_t part = 0, parts = 1;
};

// Where the items of a shard lie in the whole batch: first … first + count - 1 of `all`.
struct BatchSlice {
  int64_t first = 0, count = 0, all = 0;
  bool spare = false;  // the batch has fewer items than shards: this shard repeats an item, which does not count
};

// The items of a batch of `all` >= 1 that belong to a shard: contiguous, in the order of the shares, none twice and
// none left out, of sizes that differ by one at most. Throws c10::Error unless 0 <= part < parts.
BatchSlice batch_slice(const BatchShard& share, int64_t all);

}  // namespace geosft
