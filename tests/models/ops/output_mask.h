// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/List.h>

namespace geosft::test {

// Returns the output_mask of a backward operator with `count` floating inputs: every element is `requested`.
inline c10::List<bool> uniform_mask(size_t count, bool requested = true) {
  c10::List<bool> mask;
  for (size_t i = 0; i < count; ++i) mask.push_back(requested);
  return mask;
}

}  // namespace geosft::test
