// SPDX-License-Identifier: Apache-2.0
#include "geometry/version.h"

#include <torch/version.h>

namespace geosft {
namespace {

// The Python package reads this text from the file before it loads the library (tools/python/CMakeLists.txt): loading
// it with another LibTorch ends with an undefined symbol.
[[gnu::used]] const char compiled_with[] = "geosft compiled with LibTorch " TORCH_VERSION;

}  // namespace

const char* version() {
  return GEOSFT_VERSION;
}

}  // namespace geosft
