// SPDX-License-Identifier: Apache-2.0
// Defines one point cloud with its label.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "data/data_error.h"

namespace geosft {

// A cloud as returned by a dataset. Coordinates are not normalised: they are in the unit of the file.
struct Shape {
  at::Tensor points;   // float32 [n, 3]
  at::Tensor normals;  // float32 [n, 3] of unit length, or undefined if the source has no normals
  int64_t label = -1;  // index into the dataset's class names; -1 when unknown
  std::string name;    // unique within the dataset, for messages and tables
  // int64 [n]: part of each point, an index into the dataset's parts; undefined if the source has no parts.
  at::Tensor parts = {};
};

}  // namespace geosft
