// SPDX-License-Identifier: Apache-2.0
// What the kernels of dropout check of what they are called with.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <limits>

namespace geosft {

// `first`: the place of the first of `count` elements.
inline void check_dropout(double probability, int64_t first, int64_t count) {
  TORCH_CHECK(probability >= 0 && probability < 1, "probability must be in [0, 1), got ", probability);
  constexpr int64_t room = 64;  // places are rounded up to whole groups
  TORCH_CHECK(first >= 0 && first <= std::numeric_limits<int64_t>::max() - room - count,
              "first must be 0 or more, and leave room for ", count, " places, got ", first);
}

}  // namespace geosft
