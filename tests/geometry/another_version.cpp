// SPDX-License-Identifier: Apache-2.0
// In place of geometry/version.cpp.
#include "geometry/version.h"

namespace geosft {

const char* version() {
  return "99.1.0";
}

}  // namespace geosft
