// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/point_kernels.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/point_distance_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/point_term-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const PointInput<T>& input, T* out, T* denominator) {
  run_forward<T, PointTerm<T, 1>>(problem, input, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const PointInput<T>& input, const PointOutput<T>& output,
                  const BackwardPlan& plan, const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
  run_backward<T, PointTerm<T, 1>>(problem, input, output, plan, upstream, to);
}

GEOSFT_ATTENTION_KERNELS(PointInput, PointOutput)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);

template <typename T>
PointKernels<T> distance_kernels() {
  return {GEOSFT_SIMD_DISPATCH(T, forward), GEOSFT_SIMD_DISPATCH(T, backward)};
}
template PointKernels<float> distance_kernels();
template PointKernels<double> distance_kernels();

}  // namespace geosft
#endif
