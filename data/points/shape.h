// SPDX-License-Identifier: Apache-2.0
// One point cloud with its label.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "data/data_error.h"

namespace geosft {

// A cloud as a dataset hands it out. Nothing is normalised yet: coordinates are in the file's own unit.
struct Shape {
  at::Tensor points;   // float32 [n, 3]
  at::Tensor normals;  // float32 [n, 3] of unit length, or undefined where the source has none
  int64_t label = -1;  // index into the dataset's class names; -1 when unknown
  std::string name;    // unique within the dataset, for messages and tables
  // int64 [n]: part of every point, an index into the dataset's parts; undefined where the source has none.
  at::Tensor parts = {};
};

}  // namespace geosft
