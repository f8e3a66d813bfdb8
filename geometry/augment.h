// SPDX-License-Identifier: Apache-2.0
// Random changes of clouds for training. Errors (c10::Error) name the argument, what it was and what was expected.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "geometry/augment_options.h"

namespace geosft {

// The rows that are left of every cloud of a packed batch, and what has become of them.
struct AugmentedClouds {
  at::Tensor points;   // [M, 3], dtype of the points
  at::Tensor normals;  // [M, 3], dtype of the normals; undefined: there are none
  at::Tensor ptr;      // int64 [B + 1], on the CPU
  at::Tensor rows;     // int64 [M], rows of the given batch, ascending, by which labels of points go along
};

// Clouds of a packed batch, each changed at random as the options say.
//   points [N, 3], normals [N, 3] or undefined: float32 or float64, of one dtype, on one device
//   ptr int64 [B + 1], seeds int64 [B], on the CPU or on that device
// What becomes of a cloud is a function of its points and its seed alone, by Philox (see philox.h): the same bits in
// every run, whatever the other clouds of the batch, and on a GPU the rows of the CPU and its coordinates to rounding.
// Computed in float64 and rounded once. Carries no gradient. On a GPU nothing is waited for where ptr is on the CPU,
// and points that are not finite are no error but give points that are not finite.
AugmentedClouds augment_clouds(const at::Tensor& points, const at::Tensor& normals, const at::Tensor& ptr,
                               const at::Tensor& seeds, const AugmentOptions& options);

// m of the rows 0 … n - 1, int64 [m], every subset equally likely, in ascending order, from a generator of the CPU. 0
// <= m <= n.
at::Tensor random_subset(int64_t n, int64_t m, at::Generator generator);

// How many of n rows stay when a share `p` in [0, 1) of them is dropped: ceil((1 - p) n).
int64_t rows_kept(int64_t n, double p);

// The rows that stay then: a random subset of rows_kept(n, p) rows, as random_subset has it. Rows, so that all that
// belongs to them can be dropped alike.
at::Tensor drop_rows(int64_t n, double p, at::Generator generator);

}  // namespace geosft
