// SPDX-License-Identifier: Apache-2.0
// The kernels as functions: what the sources that nvcc compiles give to those that see tensors. They enqueue on
// `stream` (a cudaStream_t) of the current device and return nothing but an error's text, or null.
#pragma once

#include "models/ops/cuda/attention_arrays.h"

namespace geosft::cuda {

template <class BiasTraits, typename T>
const char* launch_forward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
                           const ForwardTargets<T>& to, void* stream);
template <class BiasTraits, typename T>
const char* launch_backward(const AttentionArrays<T>& problem, const typename BiasTraits::template Arrays<T>& bias,
                            const BackwardTargets<T>& to, void* stream);

}  // namespace geosft::cuda
