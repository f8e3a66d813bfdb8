// SPDX-License-Identifier: Apache-2.0
#include "models/ops/graph_attention.h"

#include <torch/library.h>

#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/graph_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/graph_term-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const GraphInput<T>& input, T* out, T* denominator) {
  run_forward<T, GraphTerm<T>>(problem, input, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const GraphInput<T>& input, const GraphOutput<T>& output,
                  const BackwardPlan& plan, const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
  run_backward<T, GraphTerm<T>>(problem, input, output, plan, upstream, to);
}

GEOSFT_ATTENTION_KERNELS(GraphInput, GraphOutput)

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
class GraphArguments {
 public:
  GraphArguments(const AttentionArguments& arguments, const at::Tensor& rowptr_, const at::Tensor& col_,
                 const at::Tensor& edge_attr_, const at::Tensor& top_, const at::Tensor& partner_,
                 const at::Tensor& weight_, const WeightArguments& weights_)
      : rowptr(rowptr_.contiguous()),
        col(col_.contiguous()),
        edge_attr(edge_attr_.contiguous()),
        top(top_.contiguous()),
        partner(partner_.contiguous()),
        weight(weight_.contiguous()),
        weights(weights_),
        sampled(arrays(), arguments.offsets.first, arguments.offsets.second) {}

  GraphArrays arrays() const {
    return {pointer<int64_t>(rowptr),
            pointer<int64_t>(col),
            pointer<int64_t>(top),
            pointer<int64_t>(partner),
            rowptr.size(0) - 1,
            col.size(0),
            top.size(0)};
  }
  template <typename T>
  GraphInput<T> input() const {
    return {arrays(), &sampled, pointer<T>(edge_attr), pointer<T>(weight), edge_attr.size(1), weights.pointers<T>()};
  }
  // Gradient numbers per query row.
  int64_t width() const {
    const int64_t nodes = std::max<int64_t>(rowptr.size(0) - 1, 1);
    return (edge_attr.numel() + nodes - 1) / nodes;
  }

  at::Tensor rowptr, col, edge_attr, top, partner, weight;
  WeightArguments weights;
  SampledNodes sampled;
};

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           const at::Tensor& leak, const at::Tensor& rowptr, const at::Tensor& col,
                                           const at::Tensor& edge_attr, const at::Tensor& top,
                                           const at::Tensor& partner, const at::Tensor& weight, const at::Tensor& w_mul,
                                           const at::Tensor& b_mul, const at::Tensor& w_add, const at::Tensor& b_add,
                                           const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_graph_attention(q, k, v, leak, rowptr, col, edge_attr, top, partner, weight, w_mul, b_mul, w_add, b_add, q_ptr,
                        k_ptr, eps);
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  const GraphArguments own(arguments, rowptr, col, edge_attr, top, partner, weight, {w_mul, b_mul, w_add, b_add});
  return attention_forward(arguments, [&]<typename T>(const AttentionProblem<T>& problem, T* out, T* denominator) {
    GEOSFT_SIMD_DISPATCH(T, forward)(problem, own.input<T>(), out, denominator);
  });
}

at::Tensor forward_only(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                        const at::Tensor& rowptr, const at::Tensor& col, const at::Tensor& edge_attr,
                        const at::Tensor& top, const at::Tensor& partner, const at::Tensor& weight,
                        const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                        const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return std::get<0>(forward(q, k, v, leak, rowptr, col, edge_attr, top, partner, weight, w_mul, b_mul, w_add, b_add,
                             q_ptr, k_ptr, eps));
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                                 const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                 const at::Tensor& rowptr, const at::Tensor& col, const at::Tensor& edge_attr,
                                 const at::Tensor& top, const at::Tensor& partner, const at::Tensor& weight,
                                 const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                                 const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  check_graph_attention(q, k, v, leak, rowptr, col, edge_attr, top, partner, weight, w_mul, b_mul, w_add, b_add, q_ptr,
                        k_ptr, eps);
  const AttentionArguments arguments(q, k, v, leak, q_ptr, k_ptr, eps);
  const GraphArguments own(arguments, rowptr, col, edge_attr, top, partner, weight, {w_mul, b_mul, w_add, b_add});
  const int64_t channels = edge_attr.size(1);
  std::vector<at::Tensor> more;
  std::vector<at::Tensor> gradients =
      attention_backward(arguments, grad, out, denominator, {own.width(), 1},
                         [&]<typename T>(const AttentionProblem<T>& problem, const BackwardPlan& plan,
                                         const AttentionUpstream<T>& upstream, const CoreGradients<T>& to) {
                           GraphOutput<T> output{Slots<T>(own.edge_attr.sizes(), plan.splits),
                                                 Slots<T>(own.weight.sizes(), plan.splits * plan.groups),
                                                 WeightGradients<T>(plan, channels, problem.heads), plan.groups};
                           GEOSFT_SIMD_DISPATCH(T, backward)(problem, own.input<T>(), output, plan, upstream, to);
                           more = {output.edge_attr.sum(), output.weight.sum()};
                           for (at::Tensor& gradient : output.weights.finish()) more.push_back(std::move(gradient));
                         });
  gradients.insert(gradients.end(), more.begin(), more.end());
  return gradients;
}

}  // namespace

TORCH_LIBRARY_IMPL(geosft, CPU, m) {
  m.impl("graph_attention", forward_only);
  m.impl("_graph_attention_forward", forward);
  m.impl("_graph_attention_backward", backward);
}

}  // namespace geosft
#endif
