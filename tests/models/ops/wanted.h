// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/List.h>

namespace geosft::test {

// `wanted` of a backward operator with `count` floating inputs.
inline c10::List<bool> all_wanted(size_t count, bool wanted = true) {
  c10::List<bool> list;
  for (size_t i = 0; i < count; ++i) list.push_back(wanted);
  return list;
}

}  // namespace geosft::test
