// SPDX-License-Identifier: Apache-2.0
// Finds what misleads a model of shapes in a cloud: points without a form, places that a sensor repeats, stray points,
// and normals that point inward.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace geosft {

// Returns what the points of a cloud have that misleads a model of its shape, at most one text, to be said after the
// name of the cloud and ": ". The first of these that holds:
//   * all of its points are equal, or lie on one line: at most 1e-5 of the largest distance from the first point beside
//     it. Of fewer than two points nothing is said.
//   * more than 1 % of its points, and more than 16 of them, are at one place.
//   * its farthest point is at least twice as far from its middle (the median of each coordinate) as 99 % of them. Of
//     fewer than 200 points nothing is said. No shape of furniture, infomr40 and psb_parts is like this.
//   * all of its points, at least four, lie in one plane, by the same tolerance.
// points [n, 3], float32 or float64, finite, on the CPU. Errors name the argument.
std::vector<std::string> point_warnings(const at::Tensor& points);

// Returns what the normals of a cloud have that misleads a model that learned from outward ones, as point_warnings
// does: they point inward on the whole. Those of a closed surface that point outward have a positive mean product with
// the offset from the centroid, 3 V / A by the divergence theorem, however many faces a cavity has. Inward ones are
// below zero by more than 4 standard errors. Of the 429 shapes of furniture 2 are warned of as they are, and 343 with
// all signs turned. Signs at random are not told: the normals of a thin sheet, which has two sides, look like them.
// points [n, 3], finite, and normals [n, 3] of unit length, or zero or not finite (missing), float32 or float64, on the
// CPU. Errors name the argument.
std::vector<std::string> normal_warnings(const at::Tensor& points, const at::Tensor& normals);

}  // namespace geosft
