// SPDX-License-Identifier: Apache-2.0
// Computes the attentions of the primal-dual family. Operator geosft::primal_attention.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "models/ops/gathered_operator.h"

namespace geosft {

// The attentions that follow from a support-vector regression of values on keys ("A Primal-Dual Framework for
// Transformers and Neural Networks", sections 2 and 3), per item and head:
//   out[i] = sum_j w[i, j] v[j] / sum_j w[i, j]
//   softmax: w[i, j] = exp(scale q[i] . k[j]);  linear: w[i, j] = phi(q[i]) . phi(k[j]) with phi = elu + 1, and eps is
//   added to its sum
// over keys and values that are pooled and recentred first:
//   pool (Attention-SH): head s averages each pool[s] consecutive rows of k and v of an item; the last group of an item
//     may be shorter, and has as much say as the others
//   beta (Attention-BN): q <- q - beta mu and k <- k - beta mu, mu the mean of the item's pooled keys of that head
// Memory is O(Nq + Nk) beside the result and the pairs of a mask; time of linear is too.
//
//   q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv]
//   beta [] or [h]; none: 0
//   pool h factors >= 1; none: 1
//   kernel "softmax" or "linear"
//   eps >= 0, of linear alone
//   q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
//   mask_rowptr, mask_col int64: with softmax, the keys that each query sees, as rows of a CSR matrix. mask_rowptr has
//     Nq + 1 entries for one mask of all heads, which must then share a factor, or h Nq + 1 (row s Nq + i). Columns are
//     rows of the packed pooled keys of the head, rising in a row, of the query's item.
//   scale of softmax, finite; none: 1 / sqrt(c)
//   result [Nq, h, cv]; zeros, with zero gradients, where a query sees no key or the sum is 0
//
// One dtype: float32, float64, or float16 and bfloat16, which the CPU computes in float32. Differentiable once in q, k,
// v and beta. The result has the same bits on any number of threads. Wrong shapes, dtypes, scalars or ptr: an error
// naming the argument. The values of q, k, v and beta are not checked. On a CPU softmax over whole items is LibTorch's
// scaled_dot_product_attention where they are large. On a GPU heads of at most 128 channels have kernels: the result
// has the same bits every time, the values of a mask, and of a ptr there, are not checked (pairs of rows that are not
// of one item count for nothing), and linear takes memory for c (cv + 1) numbers an item and every 256 keys. All else
// is composed of LibTorch's operations.
at::Tensor primal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const std::optional<at::Tensor>& beta = std::nullopt,
                            at::OptionalIntArrayRef pool = std::nullopt, std::string_view kernel = "softmax",
                            double eps = 1e-6, const std::optional<at::Tensor>& q_ptr = std::nullopt,
                            const std::optional<at::Tensor>& k_ptr = std::nullopt,
                            const std::optional<at::Tensor>& mask_rowptr = std::nullopt,
                            const std::optional<at::Tensor>& mask_col = std::nullopt,
                            std::optional<double> scale = std::nullopt);

// For the kernels and the autograd function.

// The arguments common to all of them.
struct PrimalArguments {
  const at::Tensor &q, &k, &v;
  const std::optional<at::Tensor>& beta;
  at::OptionalIntArrayRef pool;
  std::string_view kernel;
  double eps;
  const std::optional<at::Tensor>&q_ptr, &k_ptr, &mask_rowptr, &mask_col;
  std::optional<double> scale;

  // Checks types, shapes and numbers; the values of q_ptr, k_ptr and the mask are checked where they are read.
  void check() const;
  // Checks the arguments of a backward operator: grad and out [Nq, h, cv] and normalizer [Nq, h], in the type that
  // kernels compute in.
  void check_grad_output(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer) const;
  bool linear() const { return kernel == "linear"; }
  double logit_scale() const;

  template <class F>
  decltype(auto) apply(const F& f) const {
    return f(q, k, v, beta, pool, kernel, eps, q_ptr, k_ptr, mask_rowptr, mask_col, scale);
  }
};

// The result of the forward operator is not rounded to the type of q, because gradients are computed from it. Its
// second result, the normalizer [Nq, h] in the type that kernels compute in, holds the sums of weights in the form that
// the backward operator of the same device needs. That returns the gradients of q, k, v and, if given, beta.
using PrimalOperator = GatheredOperator<PrimalArguments, decltype(primal_attention)>;
using PrimalBackward = PrimalOperator::Backward<std::vector<at::Tensor>>;

}  // namespace geosft
