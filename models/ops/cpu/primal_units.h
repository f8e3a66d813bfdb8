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

// Arguments of the backward pass; the gradients of q, k and v are overwritten.
template <typename T>
struct PrimalUpstream {
  StridedRows<const T> grad, normalizer;
  StridedRows<T> q_grad, k_grad, v_grad;
};

// Softmax over the keys that each query attends to; the normaliser is the logarithm of the sum of weights.
void softmax_unit_forward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalResult<float>& to);
void softmax_unit_forward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalResult<double>& to);
void softmax_unit_backward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalUpstream<float>& up);
void softmax_unit_backward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalUpstream<double>& up);

// Linear attention over all keys; the normaliser is the sum of weights plus eps.
void linear_unit_forward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalResult<float>& to);
void linear_unit_forward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalResult<double>& to);
void linear_unit_backward(const PrimalNumbers& n, const PrimalUnit<float>& unit, const PrimalUpstream<float>& up);
void linear_unit_backward(const PrimalNumbers& n, const PrimalUnit<double>& unit, const PrimalUpstream<double>& up);

}  // namespace geosft
