// SPDX-License-Identifier: Apache-2.0
// Finds what misleads a model of shapes in a cloud: points without a form, places that a sensor repeats, stray points,
// and normals that do not fit the points or point inward.
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

// Faults of the normals of a cloud that mislead a model that learned from outward ones.
//   misfit: they do not fit the points, as normals of another order of the points, of another frame, or constant ones.
//     A sample of at most 256 points with normals, evenly spaced by row, is compared with the plane of the 16 nearest
//     points of each (neighbour_planes). Planes count where they are clear: the variance across is at most 0.1 of the
//     second one, and that one above 0.1 of the largest. The median of |cos| of the angle between normal and plane
//     normal is below 0.65; directions at random have 0.5. Nothing is said of fewer than 200 normals, or fewer than 64
//     clear planes, as of points in a volume. Signs do not count, nor do normals that fit at more than half of the
//     points, as constant ones do on a table top.
//   inward: they point inward on the whole. Those of a closed surface that point outward have a positive mean product
//     with the offset from the centroid, 3 V / A by the divergence theorem, however many faces a cavity has. Inward
//     ones are below zero by more than 4 standard errors. Of the 429 shapes of furniture 2 are warned of as they are,
//     and 343 with all signs turned. Signs at random are not told: the normals of a thin sheet, which has two sides,
//     look like them.
enum class NormalFault { none, misfit, inward };

// Returns the first fault that holds. Without `check_misfit` that is not `misfit`: points sampled from a mesh have the
// normals of its faces, which fit them also where thin or rough surfaces look otherwise to the check.
// points [n, 3], finite, and normals [n, 3] of unit length, or zero or not finite (missing), float32 or float64, on the
// CPU. Errors name the argument.
NormalFault normal_fault(const at::Tensor& points, const at::Tensor& normals, bool check_misfit = true);

// Returns a text on that fault, as point_warnings does; nothing if there is none.
std::vector<std::string> normal_warnings(const at::Tensor& points, const at::Tensor& normals, bool check_misfit = true);

}  // namespace geosft
