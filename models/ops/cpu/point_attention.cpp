// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/point_kernels.h"

namespace geosft {
namespace {

struct PointAttention {
  using Inputs = PointInputs;
  PointAttention(const Inputs& in, const AttentionArguments&)
      : x(contiguous(in.x())), xs(contiguous(in.xs())), m(contiguous(in.m())), ms(contiguous(in.ms())), weights(in) {}

  template <typename T>
  PointInput<T> input(const AttentionProblem<T>&) const {
    return {stored_rows<T>(x, 3), stored_rows<T>(xs, 3), stored_rows<T>(m, 3), stored_rows<T>(ms, 3),
            weights.pointers<T>()};
  }

  template <typename T>
  PointOutput<T> output(const AttentionProblem<T>& problem, const BackwardPlan& plan,
                        const OutputMask& output_mask) const {
    const auto points = [&](size_t place, const at::Tensor& like, int64_t copies) {
      return output_mask.own(place) ? RowGradient<T>(like.sizes(), copies, like.scalar_type()) : RowGradient<T>();
    };
    const int64_t both = plan.splits * plan.groups;
    return {points(0, x, plan.splits),
            points(1, xs, both),
            points(2, m, plan.splits),
            points(3, ms, both),
            WeightGradients<T>(plan, channels(), problem.heads),
            plan.groups};
  }
  template <typename T>
  std::vector<at::Tensor> gradients(PointOutput<T>& output) const {
    std::vector<at::Tensor> gradients{output.x.finish(), output.xs.finish()};
    if (m.defined()) gradients.insert(gradients.end(), {output.m.finish(), output.ms.finish()});
    for (at::Tensor& gradient : output.weights.finish()) gradients.push_back(std::move(gradient));
    return gradients;
  }
  SharedWidths widths(int64_t heads, const OutputMask& output_mask) const {
    return {int64_t{3} * (output_mask.own(0) + output_mask.own(2)),
            int64_t{3} * (output_mask.own(1) + output_mask.own(3)), WeightGradients<float>::width(channels(), heads)};
  }
  int64_t channels() const { return m.defined() ? 2 : 1; }
  template <typename T>
  PointKernels<T> kernels() const {
    return m.defined() ? distance_and_normal_kernels<T>() : distance_kernels<T>();
  }
  template <typename T>
  auto forward_kernel() const {
    return kernels<T>().forward;
  }
  template <typename T>
  auto backward_kernel() const {
    return kernels<T>().backward;
  }

  at::Tensor x, xs, m, ms;
  WeightArguments weights;
};
}  // namespace

GEOSFT_KERNELS(CPU, m) {
  implement_attention<PointAttention>(m);
}

}  // namespace geosft
