// SPDX-License-Identifier: Apache-2.0
// The furniture of Sweet Home 3D that is installed here.
#pragma once

#include <filesystem>

#include "tests/environment.h"

namespace geosft::test {

// Whether it is there; says so where not.
inline bool has_furniture() {
  if (std::filesystem::exists("/usr/share/sweethome3d/furniture/Scopia.sh3f")) return true;
  leave_out("no package sweethome3d-furniture: the furniture set is not tested");
  return false;
}

}  // namespace geosft::test
