// SPDX-License-Identifier: Apache-2.0
// From tensors to the arrays of polynomial_tile.h, for the GPU and its emulation; run(PolynomialForward<T> or
// PolynomialBackward<T>) are the kernels. The host reads nothing from the device: the values of q_ptr and k_ptr are not
// checked here, see PackedRows.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <tuple>

#include "geometry/offsets_on.h"
#include "geometry/packed.h"
#include "models/ops/attention_checks.h"
#include "models/ops/cpu/computable.h"
#include "models/ops/cuda/polynomial_arrays.h"
#include "models/ops/polynomial_attention_checks.h"
#include "models/ops/softmax_pool.h"

namespace geosft::cuda {

// Rows minus the mean of their item: softmax_pool with equal weights is that mean.
inline at::Tensor centered_rows(const at::Tensor& rows, const at::Tensor& ptr) {
  const at::Tensor flat = rows.flatten(1);
  const at::Tensor none = at::zeros({flat.size(1)}, flat.options());
  const auto offsets = ptr.defined() ? std::optional(ptr) : std::nullopt;
  const at::Tensor mean = softmax_pool(flat, none, offsets);
  if (!ptr.defined()) return (flat - mean).view_as(rows);
  const at::Tensor row = at::arange(rows.size(0), ptr.options());
  const at::Tensor item = at::searchsorted(ptr, row, /*out_int32=*/false, /*right=*/true) - 1;
  return (flat - mean.index_select(0, item.clamp(0, mean.size(0) - 1))).view_as(rows);
}

// The arguments, contiguous and of the type that is computed in.
class PolynomialTensors {
 public:
  explicit PolynomialTensors(const PolynomialArguments& a)
      : q(computable(a.q)),
        v(computable(a.v)),
        q_ptr(offsets_on(a.q_ptr, q.device(), "q_ptr")),
        k_ptr(offsets_on(a.k_ptr, q.device(), "k_ptr")),
        a_(a) {
    constexpr int64_t kMostHeads = 65535;  // the height of a grid of blocks
    TORCH_CHECK(q.size(2) <= kLargestWidth && v.size(2) <= kLargestWidth, "q and v must have at most ", kLargestWidth,
                " channels a head on this device, got shapes ", q.sizes(), " and ", v.sizes());
    TORCH_CHECK(q.size(1) <= kMostHeads, "q must have at most ", kMostHeads, " heads on this device, got shape ",
                q.sizes());
    k = a.center ? centered_rows(computable(a.k), k_ptr) : computable(a.k);
  }

  template <typename T>
  PolynomialArrays<T> arrays() const {
    const int64_t items = q_ptr.defined() ? q_ptr.size(0) - 1 : 1;
    const int64_t* q_offsets = q_ptr.defined() ? q_ptr.const_data_ptr<int64_t>() : nullptr;
    const int64_t* k_offsets = k_ptr.defined() ? k_ptr.const_data_ptr<int64_t>() : nullptr;
    return {q.const_data_ptr<T>(),
            k.const_data_ptr<T>(),
            v.const_data_ptr<T>(),
            q.size(1),
            static_cast<int>(q.size(2)),
            static_cast<int>(v.size(2)),
            a_.degree,
            static_cast<T>(a_.scale),
            a_.causal,
            {q_offsets, items, q.size(0)},
            {k_offsets, items, k.size(0)}};
  }

  at::Tensor q, k, v, q_ptr, k_ptr;

 private:
  const PolynomialArguments& a_;
};

template <class Run>
std::tuple<at::Tensor, at::Tensor> polynomial_forward(const PolynomialArguments& arguments, const Run& run) {
  arguments.check();
  const PolynomialTensors in(arguments);
  const at::Tensor out = at::empty({in.q.size(0), in.q.size(1), in.v.size(2)}, in.q.options());
  const at::Tensor denominator = at::empty({in.q.size(0), in.q.size(1)}, in.q.options());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "polynomial_attention", [&] {
    run(PolynomialForward<scalar_t>{in.arrays<scalar_t>(), out.mutable_data_ptr<scalar_t>(),
                                    denominator.mutable_data_ptr<scalar_t>()});
  });
  return {out.to(arguments.q.scalar_type()), denominator};
}

template <class Run>
std::tuple<at::Tensor, at::Tensor, at::Tensor> polynomial_backward(const at::Tensor& grad, const at::Tensor& out,
                                                                   const at::Tensor& denominator,
                                                                   const PolynomialArguments& arguments,
                                                                   const Run& run) {
  arguments.check();
  check_upstream(grad, out, denominator, arguments.q, arguments.v);
  const PolynomialTensors in(arguments);
  const at::Tensor y = (computable(grad) / denominator.unsqueeze(-1)).contiguous();
  const at::Tensor last = (y * computable(out)).sum(-1).neg_();
  const at::Tensor q_grad = at::empty_like(in.q), v_grad = at::empty_like(in.v);
  at::Tensor k_grad = at::empty_like(in.k);
  AT_DISPATCH_FLOATING_TYPES(in.q.scalar_type(), "polynomial_attention", [&] {
    run(PolynomialBackward<scalar_t>{in.arrays<scalar_t>(), y.const_data_ptr<scalar_t>(),
                                     last.const_data_ptr<scalar_t>(), q_grad.mutable_data_ptr<scalar_t>(),
                                     k_grad.mutable_data_ptr<scalar_t>(), v_grad.mutable_data_ptr<scalar_t>()});
  });
  if (arguments.center) k_grad = centered_rows(k_grad, in.k_ptr);
  const at::ScalarType type = arguments.q.scalar_type();
  return {q_grad.to(type), k_grad.to(type), v_grad.to(type)};
}

}  // namespace geosft::cuda
