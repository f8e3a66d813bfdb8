// SPDX-License-Identifier: Apache-2.0
// What the kernels and the autograd function of primal_attention share.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace geosft {

// The arguments that all of them take.
struct PrimalArguments {
  const at::Tensor &q, &k, &v;
  const std::optional<at::Tensor>& beta;
  at::OptionalIntArrayRef pool;
  std::string_view kernel;
  double eps;
  const std::optional<at::Tensor>&q_ptr, &k_ptr, &mask_rowptr, &mask_col;
  std::optional<double> scale;

  // Types, shapes and numbers; the values of q_ptr, k_ptr and the mask are checked where they are read.
  void check() const;
  // Of a backward operator: grad and out [Nq, h, cv] and normalizer [Nq, h], in the type that kernels compute in.
  void check_grad_output(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer) const;
  bool linear() const { return kernel == "linear"; }
  double logit_scale() const;
};

// out is not rounded to the type of q: gradients are made from it. normalizer [Nq, h], in the same type that kernels
// compute in, is what the backward operator of the same device needs of the sums of weights.
using PrimalForward = std::tuple<at::Tensor, at::Tensor>(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const std::optional<at::Tensor>& beta,
    at::OptionalIntArrayRef pool, std::string_view kernel, double eps, const std::optional<at::Tensor>& q_ptr,
    const std::optional<at::Tensor>& k_ptr, const std::optional<at::Tensor>& mask_rowptr,
    const std::optional<at::Tensor>& mask_col, std::optional<double> scale);
// Gradients of q, k, v and, where it is given, beta.
using PrimalBackward = std::vector<at::Tensor>(const at::Tensor& grad, const at::Tensor& out,
                                               const at::Tensor& normalizer, const at::Tensor& q, const at::Tensor& k,
                                               const at::Tensor& v, const std::optional<at::Tensor>& beta,
                                               at::OptionalIntArrayRef pool, std::string_view kernel, double eps,
                                               const std::optional<at::Tensor>& q_ptr,
                                               const std::optional<at::Tensor>& k_ptr,
                                               const std::optional<at::Tensor>& mask_rowptr,
                                               const std::optional<at::Tensor>& mask_col, std::optional<double> scale);

}  // namespace geosft
