// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/point_attention.cpp"
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
  if (input.m) return run_forward<T, PointTerm<T, 2>>(problem, input, out, denominator);
  run_forward<T, PointTerm<T, 1>>(problem, input, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const PointInput<T>& input, const PointOutput<T>& output,
                  const BackwardPlan& plan, const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
  if (input.m) return run_backward<T, PointTerm<T, 2>>(problem, input, output, plan, upstream, to);
  run_backward<T, PointTerm<T, 1>>(problem, input, output, plan, upstream, to);
}

GEOSFT_ATTENTION_KERNELS(PointInput, PointOutput)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {
namespace {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);

struct PointAttention {
  using Inputs = PointInputs;
  PointAttention(const Inputs& in, const AttentionArguments&)
      : x(computable(in.x())), xs(computable(in.xs())), m(computable(in.m())), ms(computable(in.ms())), weights(in) {}

  template <typename T>
  PointInput<T> input(const AttentionProblem<T>&) const {
    return {pointer<T>(x), pointer<T>(xs), pointer<T>(m), pointer<T>(ms), weights.pointers<T>()};
  }

  template <typename T>
  PointOutput<T> output(const AttentionProblem<T>& problem, const BackwardPlan& plan) const {
    const auto points = [&](const at::Tensor& like, int64_t slots) {
      return like.defined() ? Slots<T>(like.sizes(), slots) : Slots<T>({0}, 1);
    };
    const int64_t both = plan.splits * plan.groups;
    return {points(x, plan.splits),
            points(xs, both),
            points(m, plan.splits),
            points(ms, both),
            WeightGradients<T>(plan, channels(), problem.heads),
            plan.groups};
  }
  template <typename T>
  std::vector<at::Tensor> gradients(PointOutput<T>& output) const {
    std::vector<at::Tensor> gradients{output.x.sum(), output.xs.sum()};
    if (m.defined()) gradients.insert(gradients.end(), {output.m.sum(), output.ms.sum()});
    for (at::Tensor& gradient : output.weights.finish()) gradients.push_back(std::move(gradient));
    return gradients;
  }
  SharedWidths widths() const { return {3 * channels(), 3 * channels()}; }
  int64_t channels() const { return m.defined() ? 2 : 1; }
  template <typename T>
  static auto forward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, forward);
  }
  template <typename T>
  static auto backward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, backward);
  }

  at::Tensor x, xs, m, ms;
  WeightArguments weights;
};
}  // namespace

TORCH_LIBRARY_IMPL(geosft, CPU, m) {
  implement_attention<PointAttention>(m);
}

}  // namespace geosft
#endif
