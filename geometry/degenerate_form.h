// SPDX-License-Identifier: Apache-2.0
// Finds clouds that have no surface: all of their points are equal, or lie on one line.
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace geosft {

// Returns "are equal" or "lie on one line" if the points of a cloud do, otherwise an empty text; so also for fewer than
// two. A point is on the line if its distance from it is at most 1e-5 of the largest distance from the first point.
//   points [n, 3], float32 or float64, on the CPU
// Errors name the argument.
std::string degenerate_form(const at::Tensor& points);

}  // namespace geosft
