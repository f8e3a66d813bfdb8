// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_attention.h"

#include <torch/library.h>

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

using Optional = std::optional<at::Tensor>;

// The arguments of this operator alone, contiguous.
struct PointArguments {
  at::Tensor x, xs, m, ms;
  WeightArguments weights;

  template <typename T>
  PointInput<T> input() const {
    return {pointer<T>(x), pointer<T>(xs), pointer<T>(m), pointer<T>(ms), weights.pointers<T>()};
  }
  int64_t channels() const { return m.defined() ? 2 : 1; }
};

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           const at::Tensor& leak, const at::Tensor& x, const at::Tensor& xs,
                                           const Optional& m, const Optional& ms, const at::Tensor& w_mul,
                                           const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                                           const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_point_attention(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  const PointArguments own{contiguous(x), contiguous(xs), contiguous(m), contiguous(ms), {w_mul, b_mul, w_add, b_add}};
  return attention_forward(arguments, [&]<typename T>(const AttentionProblem<T>& problem, T* out, T* denominator) {
    GEOSFT_SIMD_DISPATCH(T, forward)(problem, own.input<T>(), out, denominator);
  });
}

at::Tensor forward_only(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                        const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                        const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                        const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return std::get<0>(forward(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps));
}

template <typename T>
PointOutput<T> point_output(const PointArguments& own, const BackwardPlan& plan, int64_t heads) {
  const auto points = [&](const at::Tensor& like, int64_t slots) {
    return like.defined() ? Slots<T>(like.sizes(), slots) : Slots<T>({0}, 1);
  };
  const int64_t both = plan.splits * plan.groups;
  return {points(own.x, plan.splits),
          points(own.xs, both),
          points(own.m, plan.splits),
          points(own.ms, both),
          WeightGradients<T>(plan, own.channels(), heads),
          plan.groups};
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                                 const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                 const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                                 const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                                 const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_point_attention(q, k, v, leak, x, xs, m, ms, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr, eps);
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  const PointArguments own{contiguous(x), contiguous(xs), contiguous(m), contiguous(ms), {w_mul, b_mul, w_add, b_add}};
  const int64_t width = 3 * own.channels();
  std::vector<at::Tensor> more;
  std::vector<at::Tensor> gradients =
      attention_backward(arguments, grad, out, denominator, {width, width},
                         [&]<typename T>(const AttentionProblem<T>& problem, const BackwardPlan& plan,
                                         const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
                           PointOutput<T> output = point_output<T>(own, plan, problem.heads);
                           GEOSFT_SIMD_DISPATCH(T, backward)(problem, own.input<T>(), output, plan, upstream, to);
                           more = {output.x.sum(), output.xs.sum(), output.m.sum(), output.ms.sum()};
                           for (at::Tensor& gradient : output.weights.finish()) more.push_back(std::move(gradient));
                         });
  gradients.insert(gradients.end(), more.begin(), more.end());
  return gradients;
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, CPU, m) {
  m.impl("point_attention", forward_only);
  m.impl("_point_attention_forward", forward);
  m.impl("_point_attention_backward", backward);
}

}  // namespace geosft
#endif
