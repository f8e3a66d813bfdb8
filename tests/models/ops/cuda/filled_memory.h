// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/Context.h>

namespace geosft::test {

// While it lives, memory that LibTorch hands out is filled with NaN.
class FilledMemory {
 public:
  FilledMemory() { at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true); }
  ~FilledMemory() { at::globalContext().setDeterministicAlgorithms(false, false); }
  FilledMemory(const FilledMemory&) = delete;
  FilledMemory& operator=(const FilledMemory&) = delete;
};

}  // namespace geosft::test
