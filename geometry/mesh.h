// SPDX-License-Identifier: Apache-2.0
// Defines the triangle mesh returned by the file readers.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

struct Mesh {
  at::Tensor vertices;  // [V, 3]; readers give float64
  at::Tensor faces;     // int64 [F, 3], rows of `vertices`
};

}  // namespace geosft
