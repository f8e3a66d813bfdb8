// SPDX-License-Identifier: Apache-2.0
// Computes column_sums on tensors, for the GPU and its emulation: run(ColumnSumsCall<T>) launches the kernels.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "geometry/operators.h"
#include "models/ops/column_sums.h"
#include "models/ops/cuda/column_sums_kernel.cuh"
#include "models/ops/opmath.h"

namespace geosft::cuda {

template <class Run>
at::Tensor sums_of_columns(const at::Tensor& a_in, const at::Tensor& b_in, const Run& run) {
  check_column_sums(a_in, b_in);
  const at::Tensor a = opmath_contiguous(a_in), b = opmath_contiguous(b_in);
  const int64_t rows = a.size(0), width = a.size(1), blocks = (rows + kSummedRows - 1) / kSummedRows;
  const at::Tensor sums = at::empty({blocks, 2 * width}, a.options().dtype(at::kDouble));
  const at::Tensor out = at::empty({2, width}, sums.options());
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "column_sums", [&] {
    run(ColumnSumsCall<scalar_t>{a.const_data_ptr<scalar_t>(), b.const_data_ptr<scalar_t>(), rows, width, kSummedRows,
                                 blocks, sums.mutable_data_ptr<double>(), out.mutable_data_ptr<double>()});
  });
  return out;
}

// Registers the operator for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_column_sums(torch::Library& m) {
  m.impl("_column_sums", [](const at::Tensor& a, const at::Tensor& b) {
    return sums_of_columns(a, b, Launcher(a.device(), "column_sums"));
  });
}

}  // namespace geosft::cuda
