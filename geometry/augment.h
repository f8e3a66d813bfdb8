// SPDX-License-Identifier: Apache-2.0
// Random augmentation of point clouds for training. Errors (c10::Error) name the argument, its value and what was
// expected.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "geometry/augment_options.h"

namespace geosft {

// A packed batch after augmentation: the remaining rows of each cloud.
struct AugmentedClouds {
  at::Tensor points;   // [M, 3], dtype of the points
  at::Tensor normals;  // [M, 3], dtype of the normals; undefined if there are none
  at::Tensor ptr;      // int64 [B + 1], on the CPU
  at::Tensor rows;     // int64 [M], rows of the input batch, ascending: use them to index labels of points
};

// Augments each cloud of a packed batch at random, as the options say.
//   points [N, 3], normals [N, 3] or undefined: float32 or float64, of one dtype, on one device
//   ptr int64 [B + 1], seeds int64 [B], on the CPU or on that device
// The result for a cloud is a function of its points and its seed alone (Philox, see philox.h). It has the same bits in
// every run and does not depend on the other clouds of the batch. A GPU keeps the same rows as the CPU; its coordinates
// agree to rounding. Computed in float64 and rounded once. Carries no gradient. On a GPU with ptr on the CPU the call
// does not synchronize, and points that are not finite raise no error but give points that are not finite.
AugmentedClouds augment_clouds(const at::Tensor& points, const at::Tensor& normals, const at::Tensor& ptr,
                               const at::Tensor& seeds, const AugmentOptions& options);

// Returns a random subset of m of the rows 0 … n - 1, int64 [m], ascending; every subset is equally likely. `generator`
// is one of the CPU. 0 <= m <= n.
at::Tensor random_subset(int64_t n, int64_t m, at::Generator generator);

// Returns the number of n rows that remain when a share `p` in [0, 1) of them is dropped: ceil((1 - p) n).
int64_t rows_kept(int64_t n, double p);

// Returns the rows that remain after dropping a share `p`: random_subset of rows_kept(n, p) rows. Returned as row
// numbers, so that points, normals and labels can be indexed alike.
at::Tensor drop_rows(int64_t n, double p, at::Generator generator);

}  // namespace geosft
