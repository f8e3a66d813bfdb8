// SPDX-License-Identifier: Apache-2.0
// Computes gated_edge_sum and its gradients on tensors, for the GPU and its emulation: run(GatedSumCall<T> or
// GatedSumGradientCall<T>) launches the kernels. The host reads nothing from the device.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <tuple>

#include "models/ops/cuda/edge_sum_host.h"
#include "models/ops/cuda/gated_edge_sum_kernel.cuh"
#include "models/ops/gated_edge_sum.h"

namespace geosft::cuda {

template <class Run>
std::tuple<at::Tensor, at::Tensor, at::Tensor> gated_sum_forward(const at::Tensor& query_in, const at::Tensor& key_in,
                                                                 const at::Tensor& value_in, const at::Tensor& edge_in,
                                                                 const at::Tensor& rowptr_in, const at::Tensor& col_in,
                                                                 const Run& run) {
  check_gated_sum(query_in, key_in, value_in, edge_in, rowptr_in, col_in);
  check_any_column(key_in, col_in.size(0));
  const at::Tensor query = opmath_contiguous(query_in), key = opmath_contiguous(key_in),
                   value = opmath_contiguous(value_in), edge = opmath_contiguous(edge_in),
                   rowptr = rowptr_in.contiguous(), col = col_in.contiguous();
  const at::Tensor out = at::empty_like(query), gate = at::empty_like(edge), total = at::empty_like(query);
  AT_DISPATCH_FLOATING_TYPES(query.scalar_type(), "gated_edge_sum", [&] {
    run(GatedSumCall<scalar_t>{pointer<scalar_t>(query), pointer<scalar_t>(key), pointer<scalar_t>(value),
                               pointer<scalar_t>(edge), rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int64_t>(),
                               query.size(0), key.size(0), col.size(0), query.size(1), static_cast<scalar_t>(kGateEps),
                               out.mutable_data_ptr<scalar_t>(), gate.mutable_data_ptr<scalar_t>(),
                               total.mutable_data_ptr<scalar_t>()});
  });
  return {out, gate, total};
}

template <class Run>
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> gated_sum_backward(
    const at::Tensor& out_grad_in, const at::Tensor& gate_grad_in, const at::Tensor& out_in, const at::Tensor& gate_in,
    const at::Tensor& total_in, const at::Tensor& value_in, const EdgeIndex& index_in, const Run& run) {
  check_gated_sum_backward(out_grad_in, gate_grad_in, out_in, gate_in, total_in, value_in, index_in);
  check_any_column(value_in, index_in.edges());
  const EdgeIndex index{index_in.rowptr.contiguous(), index_in.col.contiguous(), index_in.row.contiguous(),
                        index_in.colptr.contiguous(), index_in.order.contiguous()};
  const at::Tensor out_grad = opmath_contiguous(out_grad_in), gate_grad = opmath_contiguous(gate_grad_in),
                   out = opmath_contiguous(out_in), gate = opmath_contiguous(gate_in),
                   total = opmath_contiguous(total_in), value = opmath_contiguous(value_in);
  const at::Tensor share = at::empty_like(out), query_grad = at::empty_like(out), key_grad = at::empty_like(value),
                   value_grad = at::empty_like(value), edge_grad = at::empty_like(gate);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "gated_edge_sum", [&] {
    const auto read = [](const at::Tensor& rows) { return pointer<scalar_t>(rows); };
    const auto written = [](const at::Tensor& rows) { return rows.mutable_data_ptr<scalar_t>(); };
    const auto longs = [](const at::Tensor& rows) { return rows.const_data_ptr<int64_t>(); };
    run(GatedSumGradientCall<scalar_t>{
        read(out_grad),     read(gate_grad),     read(out),         read(gate),          read(total),
        read(value),        longs(index.rowptr), longs(index.col),  longs(index.row),    longs(index.colptr),
        longs(index.order), index.rows(),        index.columns(),   index.edges(),       out.size(1),
        written(share),     written(query_grad), written(key_grad), written(value_grad), written(edge_grad)});
  });
  return {query_grad, key_grad, value_grad, edge_grad};
}

// Registers the operator for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_gated_edge_sum(torch::Library& m) {
  m.impl("_gated_edge_sum_forward", [](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                       const at::Tensor& edge, const at::Tensor& rowptr, const at::Tensor& col) {
    return gated_sum_forward(query, key, value, edge, rowptr, col, Launcher(query.device(), "gated_edge_sum"));
  });
  m.impl("_gated_edge_sum_backward",
         [](const at::Tensor& out_grad, const at::Tensor& gate_grad, const at::Tensor& out, const at::Tensor& gate,
            const at::Tensor& total, const at::Tensor& value, const at::Tensor& rowptr, const at::Tensor& col,
            const at::Tensor& row, const at::Tensor& colptr, const at::Tensor& order) {
           return gated_sum_backward(out_grad, gate_grad, out, gate, total, value, {rowptr, col, row, colptr, order},
                                     Launcher(out.device(), "gated_edge_sum backward"));
         });
}

}  // namespace geosft::cuda
