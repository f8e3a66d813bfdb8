// SPDX-License-Identifier: Apache-2.0
// Defines the kernels GEOSFT_POINT_KERNELS() of point_attention with GEOSFT_POINT_CHANNELS numbers per pair: squared
// distances (1), and products of normals (2). A source that defines both names and includes this file compiles the
// kernels for every vector target.
#include "models/ops/cpu/point_kernels.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/point_kernels-inl.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/point_bias-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const PointInput<T>& input, const RowAccessor<T>& out,
                 T* denominator) {
  run_forward<T, PointBias<T, GEOSFT_POINT_CHANNELS>>(problem, input, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const PointInput<T>& input, const PointOutput<T>& output,
                  const BackwardPlan& plan, const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  run_backward<T, PointBias<T, GEOSFT_POINT_CHANNELS>>(problem, input, output, plan, grad_output, to);
}

GEOSFT_ATTENTION_KERNELS(PointInput, PointOutput)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {

GEOSFT_EXPORT_ATTENTION_KERNELS

template <typename T>
PointKernels<T> GEOSFT_POINT_KERNELS() {
  return {GEOSFT_SIMD_DISPATCH(T, forward), GEOSFT_SIMD_DISPATCH(T, backward)};
}
template PointKernels<float> GEOSFT_POINT_KERNELS();
template PointKernels<double> GEOSFT_POINT_KERNELS();

}  // namespace geosft
#endif
