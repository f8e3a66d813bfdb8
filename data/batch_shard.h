// SPDX-License-Identifier: Apache-2.0
// Who takes which items of a batch, where several processes train together.
#pragma once

#include <cstdint>

namespace geosft {

// One of `parts` processes; alone, all items are its own.
struct BatchShard {
  int64_t part = 0, parts = 1;
};

// Where the items of a share lie in the whole batch: first … first + count - 1 of `all`.
struct BatchSlice {
  int64_t first = 0, count = 0, all = 0;
  bool spare = false;  // the batch has no item for this share: it was given another one's, which does not count
};

// The items of a batch of `all` >= 1 that belong to a share: contiguous, in the order of the shares, none twice and
// none left out, of sizes that differ by one at most. Throws c10::Error unless 0 <= part < parts.
BatchSlice batch_slice(const BatchShard& share, int64_t all);

}  // namespace geosft
