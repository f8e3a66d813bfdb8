// SPDX-License-Identifier: Apache-2.0
// Bounds the rounding of softmax_pool and of its gradients.
#pragma once

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

namespace geosft::test {

// Returns bounds, to first order in `unit`, of what rounding changes in each element of the result, of d x and of d u,
// where each operation is off by at most `unit` of its result, and an exponential or a logarithm by 4 of them.
//
// A sum of n products, in any order, is off by at most n units of the sum of their magnitudes (N. J. Higham, "Accuracy
// and Stability of Numerical Algorithms", section 3.1). So, with d channels, N rows and M = max_i sum_c |x_ic u_c|:
// * A logit is off by d M, and by 2 M where another one, or less, is subtracted. A weight e^(l - largest) is relatively
//   off by (d + 2) M + 4, and once more by 2 M + 5 where the blocks of an item are joined.
// * A result is a sum of N weighted rows, divided by a sum of N weights: it is off by (2 d + 8) M + 2 N + 19 units of
//   W_c = sum_i w_i |x_ic|.
// * log_sum is off by (d + 4) M + N + 9 from its sum, by 32 from the logarithm, which is at most 8 here, and by M + 8
//   from its addition. A weight of the backward pass, e^(l - log_sum), is then relatively off by
//   (2 d + 7) M + N + 61. This and the number of the result are at most K = (2 d + 8) M + 2 N + 61.
// * s_i = w_i (g . x_i - g . out) is off by 2 K + d + 3 units of w_i A_i, where A_i = sum_c |g_c| (|x_ic| + W_c).
// * d x_i = w_i g + s_i u is off by 2 K + d + 5 units of w_i (|g| + A_i |u|), and d u = sum_i s_i x_i by
//   2 K + d + N + 4 units of sum_i w_i A_i |x_i|.
// A weight below the smallest normal number of float32 is off by that number instead.
inline std::vector<at::Tensor> softmax_pool_bounds(const at::Tensor& x, const at::Tensor& u, const at::Tensor& ptr,
                                                   const at::Tensor& grad_output, double unit) {
  std::vector<at::Tensor> out, x_grad;
  at::Tensor u_grad = at::zeros_like(u);
  for (int64_t b = 0; b + 1 < ptr.size(0); ++b) {
    const at::Tensor rows = x.slice(0, ptr[b].item<int64_t>(), ptr[b + 1].item<int64_t>());
    const double smallest = std::numeric_limits<float>::min() / unit;
    const at::Tensor weights = at::softmax(at::mv(rows, u), 0).clamp_min(smallest), g = grad_output[b].abs();
    const at::Tensor mean = at::mv(rows.abs().t(), weights);
    const at::Tensor slopes = weights * (at::mv(rows.abs(), g) + at::dot(mean, g));
    out.push_back(mean);
    x_grad.push_back(at::outer(weights, g) + at::outer(slopes, u.abs()));
    u_grad += at::mv(rows.abs().t(), slopes);
  }
  const auto d = static_cast<double>(x.size(1)), n = static_cast<double>(x.size(0));
  const double logit = at::mv(x.abs(), u.abs()).max().item<double>(), k = (2 * d + 8) * logit + 2 * n + 61;
  return {at::stack(out) * (k * unit), at::cat(x_grad) * ((2 * k + d + 5) * unit),
          u_grad * ((2 * k + d + n + 4) * unit)};
}

// |actual - expected| <= bound, element by element. Roundings cancel, so that far less than a derived bound is found:
// `measured` is the part of it that is allowed.
inline void require_within(const at::Tensor& actual, const at::Tensor& expected, const at::Tensor& bound,
                           const std::string& what, double measured = 1) {
  INFO(what);
  REQUIRE(actual.sizes() == expected.sizes());
  REQUIRE(bound.sizes() == expected.sizes());
  const at::Tensor difference = (actual.detach().to(at::kDouble) - expected.detach()).abs();
  INFO("largest part of its bound: " << (difference / bound).max().item<double>());
  REQUIRE((difference <= bound).all().item<bool>());
  REQUIRE((difference <= measured * bound).all().item<bool>());
}

}  // namespace geosft::test
