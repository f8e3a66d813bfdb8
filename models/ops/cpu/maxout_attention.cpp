// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/maxout_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/dense_bias-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const DenseInput<T>& input, const RowAccessor<T>& out,
                 T* denominator) {
  if (input.mul || input.add) return run_forward<T, DenseBias<T>>(problem, input, out, denominator);
  run_forward<T, NoBias<T>>(problem, {}, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const DenseInput<T>& input, const DenseOutput<T>& output,
                  const BackwardPlan& plan, const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  if (input.mul || input.add) return run_backward<T, DenseBias<T>>(problem, input, output, plan, grad_output, to);
  run_backward<T, NoBias<T>>(problem, {}, {}, plan, grad_output, to);
}

GEOSFT_ATTENTION_KERNELS(DenseInput, DenseOutput)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_EXPORT_ATTENTION_KERNELS

struct MaxoutAttention {
  using Inputs = MaxoutInputs;
  MaxoutAttention(const Inputs& in, const AttentionArguments&)
      : mul(contiguous(in.r_mul())), add(contiguous(in.r_add())) {}

  template <typename T>
  DenseInput<T> input(const AttentionProblem<T>& problem) const {
    DenseInput<T> input{
        stored_rows<T>(mul, problem.heads), stored_rows<T>(add, problem.heads), &problem.q_offsets, {0}};
    for (int64_t b = 0; b < problem.items(); ++b) {
      input.pair_offsets.push_back(input.pair_offsets.back() + problem.queries(b) * problem.keys(b));
    }
    check_pairs(mul, "r_mul", input.pair_offsets.back());
    check_pairs(add, "r_add", input.pair_offsets.back());
    return input;
  }

  template <typename T>
  DenseOutput<T> output(const AttentionProblem<T>&, const BackwardPlan&, const OutputMask& output_mask) const {
    return {like(mul, output_mask.own(0)), like(add, output_mask.own(1))};
  }
  template <typename T>
  std::vector<at::Tensor> gradients(DenseOutput<T>& output) const {
    std::vector<at::Tensor> gradients;
    const auto append = [&](const at::Tensor& r, const at::Tensor& gradient) {
      if (r.defined()) gradients.push_back(gradient.defined() ? gradient : at::empty({0}, r.options()));
    };
    append(mul, output.mul);
    append(add, output.add);
    return gradients;
  }
  SharedWidths widths(int64_t, const OutputMask&) const { return {}; }
  template <typename T>
  static auto forward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, forward);
  }
  template <typename T>
  static auto backward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, backward);
  }

  static void check_pairs(const at::Tensor& r, const char* name, int64_t pairs) {
    TORCH_CHECK(!r.defined() || r.size(0) == pairs, name, " must have sum_b nq_b * nk_b = ", pairs, " rows, got shape ",
                r.sizes());
  }
  static at::Tensor like(const at::Tensor& r, bool needed) { return needed ? at::empty_like(r) : at::Tensor(); }

  at::Tensor mul, add;
};
}  // namespace

GEOSFT_KERNELS(CPU, m) {
  implement_attention<MaxoutAttention>(m);
}

}  // namespace geosft
#endif
