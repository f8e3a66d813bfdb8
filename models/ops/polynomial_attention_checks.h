// SPDX-License-Identifier: Apache-2.0
// What the kernels and the autograd function of polynomial_attention share.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

namespace geosft {

// The arguments that all of them take.
struct PolynomialArguments {
  const at::Tensor &q, &k, &v;
  int64_t degree;
  double scale;
  bool causal;
  const std::optional<at::Tensor>&q_ptr, &k_ptr;
  bool center;

  // Types, shapes and numbers; the values of q_ptr and k_ptr are checked where they are read.
  void check() const;
};

// What polynomial_low_rank_gradient takes of those: float32 and float64 on the CPU, else an error.
void check_low_rank(const at::Tensor& q);

// denominator [Nq, h] is the sum of a query's weights, in the type that kernels compute in.
using PolynomialForward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& q, const at::Tensor& k,
                                                             const at::Tensor& v, int64_t degree, double scale,
                                                             bool causal, const std::optional<at::Tensor>& q_ptr,
                                                             const std::optional<at::Tensor>& k_ptr, bool center);
using PolynomialBackward = std::tuple<at::Tensor, at::Tensor, at::Tensor>(
    const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator, const at::Tensor& q,
    const at::Tensor& k, const at::Tensor& v, int64_t degree, double scale, bool causal,
    const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr, bool center);

}  // namespace geosft
