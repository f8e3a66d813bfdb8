// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "data/points/shape.h"

namespace geosft {

// A cloud that a caller hands over in place of a file, as readers give them: points float [n, 3] with n >= 1, normals
// float [n, 3] or none, both on any device. Throws an error naming the argument for shapes, dtypes and numbers that are
// not finite.
Shape given_cloud(const at::Tensor& points, const std::optional<at::Tensor>& normals);

}  // namespace geosft
