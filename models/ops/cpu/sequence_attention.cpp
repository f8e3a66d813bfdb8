// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/sequence_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/sequence_bias-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const SequenceInput<T>& input, const RowAccessor<T>& out,
                 T* denominator) {
  run_forward<T, SequenceBias<T>>(problem, input, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const SequenceInput<T>& input, const SequenceOutput<T>& output,
                  const BackwardPlan& plan, const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  run_backward<T, SequenceBias<T>>(problem, input, output, plan, grad_output, to);
}

GEOSFT_ATTENTION_KERNELS(SequenceInput, SequenceOutput)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_EXPORT_ATTENTION_KERNELS

struct SequenceAttention {
  using Inputs = SequenceInputs;
  SequenceAttention(const Inputs& in, const AttentionArguments&)
      : s(contiguous(in.s())), ss(contiguous(in.ss())), weights(in) {}

  template <typename T>
  SequenceInput<T> input(const AttentionProblem<T>&) const {
    return {stored_rows<T>(s, s.size(1)), stored_rows<T>(ss, s.size(1)), s.size(1), weights.pointers<T>()};
  }

  template <typename T>
  SequenceOutput<T> output(const AttentionProblem<T>& problem, const BackwardPlan& plan,
                           const OutputMask& output_mask) const {
    const auto rows = [&](size_t place, const at::Tensor& like, int64_t copies) {
      return output_mask.own(place) ? RowGradient<T>(like.sizes(), copies, like.scalar_type()) : RowGradient<T>();
    };
    return {rows(0, s, plan.splits), rows(1, ss, plan.splits * plan.groups),
            WeightGradients<T>(plan, s.size(1), problem.heads), plan.groups};
  }
  template <typename T>
  std::vector<at::Tensor> gradients(SequenceOutput<T>& output) const {
    std::vector<at::Tensor> gradients{output.s.finish(), output.ss.finish()};
    for (at::Tensor& gradient : output.weights.finish()) gradients.push_back(std::move(gradient));
    return gradients;
  }
  SharedWidths widths(int64_t heads, const OutputMask& output_mask) const {
    const int64_t depth = s.size(1);
    return {output_mask.own(0) ? depth : 0, output_mask.own(1) ? depth : 0,
            WeightGradients<float>::width(depth, heads)};
  }
  template <typename T>
  static auto forward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, forward);
  }
  template <typename T>
  static auto backward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, backward);
  }

  at::Tensor s, ss;
  WeightArguments weights;
};
}  // namespace

GEOSFT_KERNELS(CPU, m) {
  implement_attention<SequenceAttention>(m);
}

}  // namespace geosft
#endif
