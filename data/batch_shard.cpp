// SPDX-License-Identifier: Apache-2.0
#include "data/batch_shard.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace geosft {

BatchSlice batch_slice(const BatchShard& share, int64_t all) {
  TORCH_CHECK(share.part >= 0 && share.part < share.parts, "part must lie in [0, ", share.parts, "), got ", share.part);
  TORCH_CHECK(all >= 1, "a batch must have an item, got ", all);
  const int64_t begin = all * share.part / share.parts, end = all * (share.part + 1) / share.parts;
  if (begin < end) return {begin, end - begin, all, false};
  return {std::min(begin, all - 1), 1, all, true};
}

}  // namespace geosft
