// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/graph_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"
#include "models/ops/cpu/graph_bias-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const GraphInput<T>& input, const RowAccessor<T>& out,
                 T* denominator) {
  run_forward<T, GraphBias<T>>(problem, input, out, denominator);
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const GraphInput<T>& input, const GraphOutput<T>& output,
                  const BackwardPlan& plan, const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  run_backward<T, GraphBias<T>>(problem, input, output, plan, grad_output, to);
}

GEOSFT_ATTENTION_KERNELS(GraphInput, GraphOutput)

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_EXPORT_ATTENTION_KERNELS

class GraphAttention {
 public:
  using Inputs = GraphInputs;
  GraphAttention(const Inputs& in, const AttentionArguments& arguments)
      : rowptr(opmath_contiguous(in.rowptr())),
        col(opmath_contiguous(in.col())),
        edge_attr(contiguous(in.edge_attr())),
        top(opmath_contiguous(in.top())),
        partner(opmath_contiguous(in.partner())),
        weight(opmath_contiguous(in.weight())),
        weights(in),
        sampled(arrays(), arguments.offsets.first, arguments.offsets.second) {}

  template <typename T>
  GraphInput<T> input(const AttentionProblem<T>&) const {
    const int64_t channels = edge_attr.size(1);
    return {arrays(),           &sampled, stored_rows<T>(edge_attr, channels),
            pointer<T>(weight), channels, weights.pointers<T>()};
  }

  template <typename T>
  GraphOutput<T> output(const AttentionProblem<T>& problem, const BackwardPlan& plan,
                        const OutputMask& output_mask) const {
    return {
        output_mask.own(2) ? RowGradient<T>(edge_attr.sizes(), plan.splits, edge_attr.scalar_type()) : RowGradient<T>(),
        output_mask.own(5) ? PartialSums<T>(weight.sizes(), plan.splits * plan.groups) : PartialSums<T>(),
        WeightGradients<T>(plan, edge_attr.size(1), problem.heads), plan.groups};
  }
  template <typename T>
  std::vector<at::Tensor> gradients(GraphOutput<T>& output) const {
    std::vector<at::Tensor> gradients{output.edge_attr.finish(), output.weight.sum()};
    for (at::Tensor& gradient : output.weights.finish()) gradients.push_back(std::move(gradient));
    return gradients;
  }
  SharedWidths widths(int64_t heads, const OutputMask& output_mask) const {
    const int64_t nodes = std::max<int64_t>(rowptr.size(0) - 1, 1);
    return {output_mask.own(2) ? (edge_attr.numel() + nodes - 1) / nodes : 0, output_mask.own(5) ? 1 : 0,
            WeightGradients<float>::width(edge_attr.size(1), heads)};
  }
  template <typename T>
  static auto forward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, forward);
  }
  template <typename T>
  static auto backward_kernel() {
    return GEOSFT_SIMD_DISPATCH(T, backward);
  }

 private:
  GraphArrays arrays() const {
    return {pointer<int64_t>(rowptr),
            pointer<int64_t>(col),
            pointer<int64_t>(top),
            pointer<int64_t>(partner),
            rowptr.size(0) - 1,
            col.size(0),
            top.size(0)};
  }

  at::Tensor rowptr, col, edge_attr, top, partner, weight;
  WeightArguments weights;
  SampledNodes sampled;
};
}  // namespace

GEOSFT_KERNELS(CPU, m) {
  implement_attention<GraphAttention>(m);
}

}  // namespace geosft
#endif
