// SPDX-License-Identifier: Apache-2.0
// The GPU as attention_host.h wants a device.
#pragma once

#include "geometry/cuda/stream.h"
#include "models/ops/cuda/attention_launch.h"
#include "models/ops/cuda/attention_sizes.h"

namespace geosft::cuda {

class CudaDevice {
 public:
  explicit CudaDevice(const at::Device& device) : stream_(device) {}

  // See attention_sizes.h.
  static bool many_rows(int64_t rows, int64_t items, int64_t heads) { return worth_many_rows(rows, items, heads); }

  template <class BiasTraits, typename T>
  void forward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
               const ForwardTargets<T>& to) const {
    check_launch(launch_forward<BiasTraits, T>(problem, bias, to, stream_.get()), "attention");
  }
  template <class BiasTraits, typename T>
  void backward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
                const BackwardTargets<T>& to) const {
    check_launch(launch_backward<BiasTraits, T>(problem, bias, to, stream_.get()), "attention backward");
  }

 private:
  Stream stream_;
};

}  // namespace geosft::cuda
