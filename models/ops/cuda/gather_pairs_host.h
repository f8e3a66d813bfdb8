// SPDX-License-Identifier: Apache-2.0
// From tensors to the arrays of gather_pairs_tile.h, for the GPU and its emulation; run(PairGather<T> or
// PairScatter<T>) are the kernels. The host reads nothing from the device.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <tuple>

#include "models/ops/cpu/computable.h"
#include "models/ops/cuda/gather_pairs_tile.h"
#include "models/ops/cuda/named_rows.h"
#include "models/ops/gather_pairs_checks.h"

namespace geosft::cuda {

// x and weight, contiguous, in the type that is computed in: the wider of the two.
struct PairNumbers {
  at::Tensor x, weight;

  PairNumbers(const at::Tensor& x_in, const at::Tensor& weight_in) {
    const at::ScalarType type = at::toOpMathType(at::promote_types(x_in.scalar_type(), weight_in.scalar_type()));
    x = x_in.to(type).contiguous();
    weight = weight_in.to(type).contiguous();
  }
  int64_t width() const { return x.size(0) == 0 ? 0 : x.numel() / x.size(0); }
};

template <class Run>
at::Tensor gathered_pairs(const at::Tensor& x_in, const at::Tensor& top_in, const at::Tensor& partner_in,
                          const at::Tensor& weight_in, const Run& run) {
  check_gather_pairs(x_in, top_in, partner_in, weight_in);
  const PairNumbers in(x_in, weight_in);
  check_any_row(top_in, in.x, "x");
  const at::Tensor top = top_in.contiguous(), partner = partner_in.contiguous();
  std::vector<int64_t> shape = in.x.sizes().vec();
  shape[0] = in.weight.size(0);
  const at::Tensor out = at::empty(shape, in.x.options());
  AT_DISPATCH_FLOATING_TYPES(in.x.scalar_type(), "gather_pairs", [&] {
    run(PairGather<scalar_t>{in.x.const_data_ptr<scalar_t>(), top.const_data_ptr<int64_t>(),
                             partner.const_data_ptr<int64_t>(), in.weight.const_data_ptr<scalar_t>(), in.x.size(0),
                             in.weight.size(0), in.width(), out.mutable_data_ptr<scalar_t>()});
  });
  return out.to(at::promote_types(x_in.scalar_type(), weight_in.scalar_type()));
}

// Gradients of x and weight.
template <class Run>
std::tuple<at::Tensor, at::Tensor> gathered_backward(const at::Tensor& grad_in, const at::Tensor& x_in,
                                                     const at::Tensor& top_in, const at::Tensor& partner_in,
                                                     const at::Tensor& weight_in, const Run& run) {
  const PairNumbers in(x_in, weight_in);
  const at::Tensor top = named_rows(top_in, in.x, "x"), partner = named_rows(partner_in, in.x, "x");
  const at::Tensor grad = grad_in.to(in.x.scalar_type()).contiguous(), x_grad = at::empty_like(in.x);
  const auto [rows, codes] = at::stack({top, partner}, 1).flatten().sort(/*stable=*/true, 0, false);
  const at::Tensor row_ptr = at::searchsorted(rows, at::arange(in.x.size(0) + 1, rows.options()));
  AT_DISPATCH_FLOATING_TYPES(in.x.scalar_type(), "gather_pairs", [&] {
    run(PairScatter<scalar_t>{grad.const_data_ptr<scalar_t>(), in.weight.const_data_ptr<scalar_t>(),
                              row_ptr.const_data_ptr<int64_t>(), codes.const_data_ptr<int64_t>(), in.x.size(0),
                              in.width(), x_grad.mutable_data_ptr<scalar_t>()});
  });
  const at::Tensor apart = in.x.index_select(0, top) - in.x.index_select(0, partner);
  const at::Tensor weight_grad = (grad * apart).reshape({grad.size(0), in.width()}).sum(1);
  return {x_grad.to(x_in.scalar_type()), weight_grad.to(weight_in.scalar_type())};
}

}  // namespace geosft::cuda
