// SPDX-License-Identifier: Apache-2.0
// Defines one point cloud with its label.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "data/data_error.h"

namespace geosft {

// A cloud as returned by a dataset. Coordinates are not normalised: they are in the unit of the file. Those of clouds
// far from the origin are relative to `offset`, because float32 does not hold them.
struct Shape {
  at::Tensor points;   // float32 [n, 3]
  at::Tensor normals;  // float32 [n, 3] of unit length, or undefined if the source has no normals
  int64_t label = -1;  // index into the dataset's class names; -1 when unknown
  std::string name;    // unique within the dataset, for messages and tables
  // int64 [n]: part of each point, an index into the dataset's parts; undefined if the source has no parts.
  at::Tensor parts = {};
  // float64 [3], and a factor: coordinates in the file are scale * points + offset. Undefined: no offset.
  at::Tensor offset = {};
  double scale = 1.0;
};

// Returns the offset, float64 [3], to subtract from finite coordinates float64 [n, 3], n >= 1, before they are cast to
// float32: undefined unless the cloud is far from the origin compared with its size and the cast would round it.
at::Tensor offset_from_origin(const at::Tensor& coordinates);

// Sets points and offset from finite coordinates float64 [n, 3], n >= 1.
void set_points(Shape& shape, const at::Tensor& coordinates);

// Returns the coordinates of the points in the file [n, 3]: float64 with an offset or a scale, else float32.
at::Tensor file_coordinates(const Shape& shape);

}  // namespace geosft
