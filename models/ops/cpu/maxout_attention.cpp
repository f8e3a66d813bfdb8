// SPDX-License-Identifier: Apache-2.0
#include "models/ops/maxout_attention.h"

#include <torch/library.h>

#include "models/ops/attention_checks.h"
#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/maxout_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/dense_term-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const DenseInput<T>& input, T* out, T* denominator) {
  if (input.mul || input.add) return run_forward<T, DenseTerm<T>>(problem, input, out, denominator);
  run_forward<T, NoTerm<T>>(problem, {}, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const DenseInput<T>& input, const DenseOutput<T>& output,
                  const BackwardPlan& plan, const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
  if (input.mul || input.add) return run_backward<T, DenseTerm<T>>(problem, input, output, plan, upstream, to);
  run_backward<T, NoTerm<T>>(problem, {}, {}, plan, upstream, to);
}

GEOSFT_ATTENTION_KERNELS(DenseInput, DenseOutput)

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

template <typename T>
DenseInput<T> dense_input(const AttentionProblem<T>& problem, const at::Tensor& r_mul, const at::Tensor& r_add) {
  DenseInput<T> input;
  input.q_offsets = &problem.q_offsets;
  input.pair_offsets.assign(1, 0);
  for (int64_t b = 0; b < problem.items(); ++b) {
    input.pair_offsets.push_back(input.pair_offsets.back() + problem.queries(b) * problem.keys(b));
  }
  const int64_t pairs = input.pair_offsets.back();
  for (const auto& [name, r] : {std::pair("r_mul", r_mul), std::pair("r_add", r_add)}) {
    TORCH_CHECK(!r.defined() || r.size(0) == pairs, name, " must have sum_b nq_b * nk_b = ", pairs, " rows, got shape ",
                r.sizes());
  }
  if (r_mul.defined()) input.mul = r_mul.const_data_ptr<T>();
  if (r_add.defined()) input.add = r_add.const_data_ptr<T>();
  return input;
}

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           const at::Tensor& leak, const Optional& r_mul, const Optional& r_add,
                                           const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_maxout_attention(q, k, v, leak, r_mul, r_add, q_ptr, k_ptr, eps);
  const at::Tensor mul = contiguous(r_mul), add = contiguous(r_add);
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  return attention_forward(arguments, [&]<typename T>(const AttentionProblem<T>& problem, T* out, T* denominator) {
    GEOSFT_SIMD_DISPATCH(T, forward)(problem, dense_input(problem, mul, add), out, denominator);
  });
}

at::Tensor forward_only(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                        const Optional& r_mul, const Optional& r_add, const Optional& q_ptr, const Optional& k_ptr,
                        double eps) {
  return std::get<0>(forward(q, k, v, leak, r_mul, r_add, q_ptr, k_ptr, eps));
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                                 const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                 const Optional& r_mul, const Optional& r_add, const Optional& q_ptr,
                                 const Optional& k_ptr, double eps) {
  check_maxout_attention(q, k, v, leak, r_mul, r_add, q_ptr, k_ptr, eps);
  const at::Tensor mul = contiguous(r_mul), add = contiguous(r_add);
  const at::Tensor mul_grad = mul.defined() ? at::empty_like(mul) : at::empty({0}, q.options());
  const at::Tensor add_grad = add.defined() ? at::empty_like(add) : at::empty({0}, q.options());
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  std::vector<at::Tensor> gradients = attention_backward(
      arguments, grad, out, denominator, {},
      [&]<typename T>(const AttentionProblem<T>& problem, const BackwardPlan& plan,
                      const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
        const DenseOutput<T> output{mul.defined() ? mul_grad.mutable_data_ptr<T>() : nullptr,
                                    add.defined() ? add_grad.mutable_data_ptr<T>() : nullptr};
        GEOSFT_SIMD_DISPATCH(T, backward)(problem, dense_input(problem, mul, add), output, plan, upstream, to);
      });
  gradients.push_back(mul_grad);
  gradients.push_back(add_grad);
  return gradients;
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, CPU, m) {
  m.impl("maxout_attention", forward_only);
  m.impl("_maxout_attention_forward", forward);
  m.impl("_maxout_attention_backward", backward);
}

}  // namespace geosft
#endif
