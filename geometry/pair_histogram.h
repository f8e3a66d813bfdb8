// SPDX-License-Identifier: Apache-2.0
// Counts the point-pair features of a cloud, and its points along its principal axes, as a description of its shape.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// The parts of a histogram, of near pairs, of far pairs, of the axes, and two of neighbourhoods, and the columns of
// each.
inline constexpr int64_t pair_histogram_parts = 5;
inline constexpr int64_t pair_histogram_bins = 1250;
// Maximum numbers of points of a cloud: of those that are looked at, of the centres of pairs among these, and of points
// whose neighbourhoods are counted.
inline constexpr int64_t pair_histogram_points = 2048;
inline constexpr int64_t pair_histogram_centres = 256;
inline constexpr int64_t pair_histogram_neighbourhoods = 512;

// Returns histograms of the point-pair features (Drost et al., "Model globally, match locally", 2010), of the axes and
// of the neighbourhoods of a cloud, as logarithms log(1 + count): float32 [pair_histogram_parts * pair_histogram_bins],
// for models/kernel_ridge.h. Each part has the sum 5,000, unless it is empty, so that a count is a share.
//   points [n, 3], normals [n, 3]: float32 or float64, on the CPU, finite; normals of unit length
//
// A pair of different points i, j at the distance d > 0, in the direction u from i to j, has the features d / m, n_i .
// n_j, n_i . u and -n_j . u, where m is the mean distance of all pairs; the last two change places with i and j, and
// both orders are counted. d / m is in one of 20 shells, which end at 0.04, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.36,
// 0.42, 0.5, 0.6, 0.7, 0.8, 0.95, 1.1, 1.3, 1.5, 1.75, 2.1 and infinity; the others are in five bins of equal width
// from -1 to 1. The first part has the ten inner shells, the second the outer ones.
//
// The third part has the coordinates along the principal axes, the least variance first: 16 bins of equal width from
// -3.2 to 3.2 of the mean absolute coordinate, and in each 4 of the absolute coordinate of the normal, from 0 to 1. An
// axis points to where the third moment is positive. The other columns of the part are 0.
//
// The fourth and fifth part have the neighbourhoods of points: all points within the smallest radius, a whole multiple
// of m / 100, that has at least a share of them, the point itself included. Distances are computed in float32, and
// those above 2.1 m are taken as 2.1 m.
// The fourth part has, of the share 3/128, the linearity (a - b) / a and planarity (b - c) / a, where a >= b >= c are
// the standard deviations along the principal axes, and the mean of |n_i . n_j|, in 6 bins each from 0 to 1 [6, 6, 6].
// After these it has, of the share 1/16, log2 of the radius / m, in 26 bins from -6 to 0.5, and again the mean of
// |n_i . n_j|, in 6 [26, 6]. The fifth part has, of the shares 3/128 and 3/16, the vector from the point to the
// centroid, as a multiple of the radius: its length, in 8 bins from 0 to 0.8, and its absolute component along n_i, in
// 8 from 0 to 0.6 [2, 8, 8]. Shares do not depend on the number of points. Of few points, a share is at least the point
// itself.
//
// Pairs are those of every point with at most pair_histogram_centres of them, rows that are evenly spaced; so are the
// rows whose neighbourhoods are counted, and those that are kept of a larger cloud than pair_histogram_points. The
// order of the rows matters there, not in smaller clouds. The cloud is first turned into a pose of its own
// (geometry/canonical_pose.h) and rounded to float32, so that moved, rotated and scaled copies have nearly always the
// same counts, bit for bit. Deterministic; carries no gradient. Errors name the argument.
at::Tensor pair_histogram(const at::Tensor& points, const at::Tensor& normals);

}  // namespace geosft
