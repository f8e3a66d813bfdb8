// SPDX-License-Identifier: Apache-2.0
// What the kernels of polynomial_attention see: contiguous, checked arrays of one type.
#pragma once

#include "models/ops/cuda/attention_arrays.h"

namespace geosft::cuda {

// q [Nq, heads, c], k [Nk, heads, c] (centred, if they are to be), v [Nk, heads, cv].
template <typename T>
struct PolynomialArrays {
  const T* q;
  const T* k;
  const T* v;
  int64_t heads;
  int c, cv;
  int64_t degree;
  T scale;
  bool causal;
  PackedRows queries, keys;
};

// out [Nq, heads, cv], denominator [Nq, heads]: the sums of the weights.
template <typename T>
struct PolynomialForward {
  PolynomialArrays<T> problem;
  T* out;
  T* denominator;
};

// y = grad / denominator [Nq, heads, cv], last = -(y . out) [Nq, heads]; gradients of q, k and v.
template <typename T>
struct PolynomialBackward {
  PolynomialArrays<T> problem;
  const T* y;
  const T* last;
  T* q;
  T* k;
  T* v;
};

}  // namespace geosft::cuda
