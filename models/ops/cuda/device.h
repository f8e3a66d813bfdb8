// SPDX-License-Identifier: Apache-2.0
// Implements the Device of attention_host.h on the GPU.
#pragma once

#include "models/ops/cuda/attention_arrays.h"
#include "models/ops/cuda/attention_sizes.h"
#include "models/ops/cuda/kernel_launcher.h"

namespace geosft::cuda {

class CudaDevice {
 public:
  explicit CudaDevice(const at::Device& device) : launch_(device, "attention") {}

  // See attention_sizes.h.
  static bool many_rows(int64_t rows, int64_t items, int64_t heads) { return worth_many_rows(rows, items, heads); }

  template <class BiasTraits, typename T>
  void forward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
               const ForwardTargets<T>& to) const {
    launch_(AttentionForwardCall<BiasTraits, T>{problem, bias, to});
  }
  template <class BiasTraits, typename T>
  void backward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
                const BackwardTargets<T>& to) const {
    launch_(AttentionBackwardCall<BiasTraits, T>{problem, bias, to});
  }

 private:
  KernelLauncher launch_;
};

}  // namespace geosft::cuda
