// SPDX-License-Identifier: Apache-2.0
// Approximates softmax attention by a polynomial in almost linear time. Operator geosft::polynomial_attention.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

#include "models/ops/gathered_operator.h"

namespace geosft {

// The maximum number of monomials of one head that polynomial_attention computes with.
inline constexpr int64_t kMaxMonomials = 100000;

// Softmax attention in almost linear time: the exponential replaced by its Taylor polynomial ("Multi-Layer Transformers
// Gradient Can be Approximated in Almost Linear Time", the polynomial method), per item and head:
//   A[i, j] = sum_{t <= degree} (scale q[i] . k[j])^t / t!,   out[i] = sum_j A[i, j] v[j] / sum_j A[i, j]
// A factorises over the m = binomial(c + degree, degree) monomials of q and k, so time is O((Nq + Nk) m cv) and memory
// O(Nq + Nk) and, for each item that uses them, m cv: nothing n x n, nothing n x m. Items that are so short that the
// pairs themselves are less work are evaluated pair by pair: the same function. Besides, a thread of the CPU works in
// 68 m + 144 (c + cv) + 40,000 numbers at most, with `causal` (m + 16)(cv + 1) more. On a GPU, where kernels choose
// item by item wherever ptr is, sums take 2 (c + 3 degree + cv + 1) numbers a key (backward: or query) and m (cv + 1)
// besides, of each head, and what describes the monomials 5 m; heads of one channel beyond degree 2,096, and of two
// beyond 224, are evaluated pair by pair there. In C++ choose_polynomial_degree finds a degree.
//
//   q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv]
//   degree >= 0, with at most 100,000 monomials; even ones keep A positive. Long items sum entries of sqrt(|scale|) q
//     and k to the power of the degree: where those leave the range of the type (float32: 3e38), the result is NaN
//   scale finite, of any sign (1 / sqrt(c) for usual attention)
//   causal: query i of an item sees its keys 0 … i; items must have as many queries as keys
//   center: keys minus the mean of their item, which softmax does not see but the polynomial's error does; not with
//     causal, where the mean of all keys would leak the future
//   q_ptr, k_ptr int64 [B + 1]: items of packed queries and keys, both or neither (then there is one item)
//   result [Nq, h, cv]; zeros where the item has no keys
//
// One dtype: float32, float64, or float16 and bfloat16, which are computed in float32. Differentiable once in q, k and
// v: the exact gradient of this polynomial form. The result has the same bits on any number of threads. Wrong shapes,
// dtypes, scalars or ptr: an error naming the argument. The values of q, k and v are not checked.
at::Tensor polynomial_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                double scale, bool causal = false,
                                const std::optional<at::Tensor>& q_ptr = std::nullopt,
                                const std::optional<at::Tensor>& k_ptr = std::nullopt, bool center = false);

// For the kernels and the autograd function.

// The arguments common to all of them.
struct PolynomialArguments {
  const at::Tensor &q, &k, &v;
  int64_t degree;
  double scale;
  bool causal;
  const std::optional<at::Tensor>&q_ptr, &k_ptr;
  bool center;

  // Checks types, shapes and numbers; the values of q_ptr and k_ptr are checked where they are read.
  void check() const;

  template <class F>
  decltype(auto) apply(const F& f) const {
    return f(q, k, v, degree, scale, causal, q_ptr, k_ptr, center);
  }
};

// Checks the further requirements of polynomial_low_rank_gradient: float32 or float64, on the CPU.
void check_low_rank(const at::Tensor& q);

// The second result of the forward operator is the sum of each query's weights [Nq, h], in the type that kernels
// compute in. The backward operator returns the gradients of q, k and v.
using PolynomialOperator = GatheredOperator<PolynomialArguments, decltype(polynomial_attention)>;
using PolynomialBackward = PolynomialOperator::Backward<std::tuple<at::Tensor, at::Tensor, at::Tensor>>;

}  // namespace geosft
