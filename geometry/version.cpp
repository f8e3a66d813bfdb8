// SPDX-License-Identifier: Apache-2.0
#include "geometry/version.h"

namespace geosft {

const char* version() {
  return GEOSFT_VERSION;
}

}  // namespace geosft
