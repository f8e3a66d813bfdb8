// SPDX-License-Identifier: Apache-2.0
// The options of an `eval` of point clouds: which of them, and how they are turned.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/cloud_transforms.h"

namespace CLI {
class App;
}

namespace geosft {

struct CloudEvalArguments {
  std::string run, rotate = "none", split = "test";
  int64_t repeats = 1;
  bool json = false;

  void add_to(CLI::App& verb, const std::vector<std::string>& splits);
  Rotation rotation() const { return rotation_of(rotate); }
  // Rotations a cloud: upright there is only one.
  int64_t turns() const { return rotation() == Rotation::none ? 1 : repeats; }
};

}  // namespace geosft
