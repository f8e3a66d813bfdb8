// SPDX-License-Identifier: Apache-2.0
// Checks clouds that come from memory instead of a file, which the readers would have checked.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "data/points/shape.h"

namespace geosft {

// Makes a shape of tensors: points float32 or float64 [n, 3] with n >= 1, and normals of the same shape, or undefined
// for none; both on any device. Normals are scaled to unit length; those that are not finite are missing (0). A float64
// cloud far from the origin is centred before it is cast to float32 (set_points); float32 coordinates that are coarse
// there are said in `warnings`. Throws c10::Error naming the argument for other shapes and dtypes, and for coordinates
// that are not finite.
Shape input_cloud(const at::Tensor& points, const at::Tensor& normals, std::vector<std::string>& warnings);

// Returns the name of the shape for messages; "the cloud" if it has none.
std::string cloud_name(const Shape& shape);

// Checks a shape that a caller has made: points float32 or float64 [n, 3], n >= 1, finite, and normals of the same
// shape, if it has any, which get unit length. Throws DataError naming the shape. check_cloud throws for normals that
// are not finite, too; repair_cloud marks them as missing (0).
void check_cloud(Shape& shape);
void repair_cloud(Shape& shape);

}  // namespace geosft
