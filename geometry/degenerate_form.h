// SPDX-License-Identifier: Apache-2.0
// Finds clouds that have no surface: all of their points are equal, or lie on one line.
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace geosft {

// Returns what the points of a cloud do, "are equal" or "lie on one line"; an empty text if they do neither, or are
// fewer than two. Distances from the line of at most 1e-5 of the largest distance from the first point count as none.
//   points [n, 3], float32 or float64, on the CPU
// Errors name the argument.
std::string degenerate_form(const at::Tensor& points);

}  // namespace geosft
