// SPDX-License-Identifier: Apache-2.0
// Defines the inputs of the kernels of primal_attention on the CPU, which compute one item and head at a time.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// Rows with a stride of `stride` elements.
template <typename T>
struct StridedRows {
  T* data = nullptr;
  int64_t stride = 0;
  T* operator[](int64_t row) const { return data + row * stride; }
};

// Returns the rows of a head of x [N, h, c] (with contiguous channels) or [N, h], from `first` on.
template <typename T>
StridedRows<const T> rows_of(const at::Tensor& x, int64_t head, int64_t first) {
  return {x.const_data_ptr<T>() + first * x.stride(0) + head * x.stride(1), x.stride(0)};
}
template <typename T>
StridedRows<T> mutable_rows_of(const at::Tensor& x, int64_t head, int64_t first) {
  return {x.mutable_data_ptr<T>() + first * x.stride(0) + head * x.stride(1), x.stride(0)};
}

// Query i attends to the keys col[rowptr[i]] - first_key … col[rowptr[i + 1] - 1] - first_key, or to all keys without
// rowptr.
template <typename T>
struct PrimalUnit {
  StridedRows<const T> q, k, v;
  int64_t queries, keys;
  const int64_t* rowptr = nullptr;
  const int64_t* col = nullptr;
  int64_t first_key = 0;
};

struct PrimalNumbers {
  int64_t c, cv;
  double scale, eps;
};

template <typename T>
struct PrimalResult {
  StridedRows<T> out, normalizer;
};

// Arguments of the backward pass: the gradient of the output, and those of q, k and v, which are overwritten.
template <typename T>
struct PrimalUnitGradients {
  StridedRows<const T> grad, normalizer;
  StridedRows<T> q_grad, k_grad, v_grad;
};

// The kernels of the vector target of this processor. Softmax is over the keys that each query attends to, and the
// normaliser is the logarithm of the sum of weights. Linear attention is over all keys, and the normaliser is the sum
// of weights plus eps.
template <typename T>
struct PrimalUnitKernels {
  void (*forward)(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalResult<T>& to);
  void (*backward)(const PrimalNumbers& n, const PrimalUnit<T>& unit, const PrimalUnitGradients<T>& up);
};
template <typename T>
PrimalUnitKernels<T> primal_unit_kernels(bool linear);

}  // namespace geosft
