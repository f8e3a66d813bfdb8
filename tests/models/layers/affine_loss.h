// SPDX-License-Identifier: Apache-2.0
// Computes the loss that a layer must fall below to have learned more than a map of single tokens.
#pragma once

#include <ATen/ATen.h>

namespace geosft::test {

// Returns the mean squared error of the affine map from rows of x to rows of `target` that fits them best.
inline double best_affine_loss(const at::Tensor& x, const at::Tensor& target) {
  const at::Tensor span = std::get<0>(at::linalg_qr(at::cat({x, at::ones_like(x.slice(1, 0, 1))}, 1)));
  return (target - at::matmul(span, at::matmul(span.t(), target))).square().mean().item<double>();
}

}  // namespace geosft::test
