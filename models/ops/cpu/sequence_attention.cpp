// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sequence_attention.h"

#include <torch/library.h>

#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/sequence_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/sequence_term-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const SequenceInput<T>& input, T* out, T* denominator) {
  run_forward<T, SequenceTerm<T>>(problem, input, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const SequenceInput<T>& input, const SequenceOutput<T>& output,
                  const BackwardPlan& plan, const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
  run_backward<T, SequenceTerm<T>>(problem, input, output, plan, upstream, to);
}

GEOSFT_ATTENTION_KERNELS(SequenceInput, SequenceOutput)

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

using Optional = std::optional<at::Tensor>;

// The arguments of this operator alone, contiguous.
struct SequenceArguments {
  at::Tensor s, ss;
  WeightArguments weights;

  template <typename T>
  SequenceInput<T> input() const {
    return {pointer<T>(s), pointer<T>(ss), s.size(1), weights.pointers<T>()};
  }
};

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           const at::Tensor& leak, const at::Tensor& s, const at::Tensor& ss,
                                           const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                                           const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr,
                                           double eps) {
  check_sequence_attention(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  const SequenceArguments own{contiguous(s), contiguous(ss), {w_mul, b_mul, w_add, b_add}};
  return attention_forward(arguments, [&]<typename T>(const AttentionProblem<T>& problem, T* out, T* denominator) {
    GEOSFT_SIMD_DISPATCH(T, forward)(problem, own.input<T>(), out, denominator);
  });
}

at::Tensor forward_only(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                        const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul, const at::Tensor& b_mul,
                        const at::Tensor& w_add, const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr,
                        double eps) {
  return std::get<0>(forward(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps));
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                                 const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                 const at::Tensor& s, const at::Tensor& ss, const at::Tensor& w_mul,
                                 const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                                 const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_sequence_attention(q, k, v, leak, s, ss, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  const SequenceArguments own{contiguous(s), contiguous(ss), {w_mul, b_mul, w_add, b_add}};
  const int64_t width = own.s.size(1);
  std::vector<at::Tensor> more;
  std::vector<at::Tensor> gradients =
      attention_backward(arguments, grad, out, denominator, {width, width},
                         [&]<typename T>(const AttentionProblem<T>& problem, const BackwardPlan& plan,
                                         const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
                           SequenceOutput<T> output{Slots<T>(own.s.sizes(), plan.splits),
                                                    Slots<T>(own.ss.sizes(), plan.splits * plan.groups),
                                                    WeightGradients<T>(plan, width, problem.heads), plan.groups};
                           GEOSFT_SIMD_DISPATCH(T, backward)(problem, own.input<T>(), output, plan, upstream, to);
                           more = {output.s.sum(), output.ss.sum()};
                           for (at::Tensor& gradient : output.weights.finish()) more.push_back(std::move(gradient));
                         });
  gradients.insert(gradients.end(), more.begin(), more.end());
  return gradients;
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, CPU, m) {
  m.impl("sequence_attention", forward_only);
  m.impl("_sequence_attention_forward", forward);
  m.impl("_sequence_attention_backward", backward);
}

}  // namespace geosft
#endif
