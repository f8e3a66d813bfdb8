// SPDX-License-Identifier: Apache-2.0
// Computes dropout on tensors, for the GPU and its emulation: run(DropoutCall<T>) launches the kernel. The host reads
// nothing from the device.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

#include "geometry/operators.h"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/cuda/seeded_dropout_kernel.cuh"
#include "models/ops/seeded_dropout.h"

namespace geosft::cuda {

template <class Run>
at::Tensor masked(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first, const Run& run) {
  check_dropout(x, probability, seed, first);
  const at::Tensor input = x.contiguous(), out = at::empty_like(input);
  const DropoutScale scale = dropout_scale(probability);
  AT_DISPATCH_FLOATING_TYPES(at::toOpMathType(input.scalar_type()), "seeded_dropout", [&] {
    run(DropoutCall<scalar_t>{stored<scalar_t>(input), storable<scalar_t>(out), input.numel(), first, scale.threshold,
                              seed.const_data_ptr<int64_t>(), static_cast<scalar_t>(scale.kept)});
  });
  return out;
}

// Registers the operator for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_seeded_dropout(torch::Library& m) {
  m.impl("_seeded_dropout", [](const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
    return masked(x, probability, seed, first, Launcher(x.device(), "seeded_dropout"));
  });
}

}  // namespace geosft::cuda
