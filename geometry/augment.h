// SPDX-License-Identifier: Apache-2.0
// Random changes of a cloud for training. Each draws from the generator it is given (of the CPU), and only from it.
// points [N, 3] and normals [N, 3] are float32 or float64, of any unit; what is returned has their shape and dtype and
// is a new tensor. Errors (c10::Error) name the argument, what it was and what was expected.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// `points` times one number, uniform in [low, high], 0 < low <= high.
at::Tensor random_scale(const at::Tensor& points, double low, double high, at::Generator generator);

// A random stretch along the coordinate axes: each factor is exp(u), u uniform in [-spread, spread], spread >= 0.
// Points are multiplied by the factors, normals (undefined: none) divided by them and made unit again.
struct StretchedPoints {
  at::Tensor points, normals;
};
StretchedPoints random_stretch(const at::Tensor& points, const at::Tensor& normals, double spread,
                               at::Generator generator);

// `points` plus normal noise of standard deviation `sigma` >= 0 on every coordinate, clipped to [-clip, clip], clip >=
// 0; both in the unit of the points.
at::Tensor jitter(const at::Tensor& points, double sigma, double clip, at::Generator generator);

// m of the rows 0 … n - 1, int64 [m], every subset equally likely, in ascending order. 0 <= m <= n.
at::Tensor random_subset(int64_t n, int64_t m, at::Generator generator);

// The rows that stay when a share `p` in [0, 1) of n rows is dropped: a random subset of ceil((1 - p) n) rows in
// ascending order, int64. Rows, so that points and normals can be dropped alike.
at::Tensor drop_rows(int64_t n, double p, at::Generator generator);

}  // namespace geosft
