// SPDX-License-Identifier: Apache-2.0
// Converts tensors to the arrays that the attention kernels of the CPU read and write, and calls the kernels: the
// Device of models/ops/attention_host.h.
#pragma once

#include "geometry/packed.h"
#include "models/ops/attention_host.h"
#include "models/ops/cpu/attention_kernels.h"

namespace geosft {

// Holds the arguments common to all attention operators.
struct AttentionArguments {
  explicit AttentionArguments(const AttentionInputs& in)
      : q(contiguous(in.q())),
        k(contiguous(in.k())),
        v(contiguous(in.v())),
        leak(opmath_contiguous(in.leak())),
        offsets(packed_offset_pair(in.q_ptr(), q.size(0), "q_ptr", in.k_ptr(), k.size(0), "k_ptr")),
        eps(in.eps) {}

  template <typename T>
  AttentionProblem<T> problem() const {
    return {stored_rows<T>(q, q.size(1) * q.size(2)),
            stored_rows<T>(k, k.size(1) * k.size(2)),
            stored_rows<T>(v, v.size(1) * v.size(2)),
            leak.const_data_ptr<T>(),
            q.size(1),
            q.size(2),
            v.size(2),
            static_cast<T>(eps),
            offsets.first,
            offsets.second};
  }

  at::Tensor q, k, v, leak;
  OffsetPair offsets;
  double eps;
};

// w_* [channels, heads], b_* [heads]: mul = softplus(X w_mul + b_mul), add = X w_add + b_add.
template <typename T>
struct RelativeWeights {
  const T* w_mul = nullptr;
  const T* b_mul = nullptr;
  const T* w_add = nullptr;
  const T* b_add = nullptr;
};

struct WeightArguments : WeightTensors {
  explicit WeightArguments(const WeightedInputs& in) : WeightTensors(in, opmath_contiguous) {}

  template <typename T>
  RelativeWeights<T> pointers() const {
    return {pointer<T>(w_mul), pointer<T>(b_mul), pointer<T>(w_add), pointer<T>(b_add)};
  }
};

// Allocates the gradient of rows `like` if it is requested.
template <typename T>
RowGradient<T> row_gradient(bool requested, const at::Tensor& like, int64_t copies) {
  return requested ? RowGradient<T>(like.sizes(), copies, like.scalar_type()) : RowGradient<T>();
}

// Runs the kernels of an Operator, which has
//   Inputs                                        a type derived from AttentionInputs
//   Operator(const Inputs&, const AttentionArguments&)
//   arrays<T>(problem)                            the inputs of the attention bias, as the kernels read them
//   begin_gradients(problem, plan, output_mask, arrays&)
//                                                 allocates the gradients of the bias that the mask requests
//   gradients(arrays&)                            the gradients of the floating inputs of the bias, in order; an empty
//                                                 tensor where the mask is false
//   widths(heads, output_mask)                    sizes of the accumulators of the bias
// Biases::make<T>() returns a function make_bias(arrays, heads, backward), as MakeBias.
template <class OperatorType, class Biases>
struct AttentionDevice {
  using Operator = OperatorType;
  using Arguments = AttentionArguments;

  explicit AttentionDevice(const AttentionInputs& /*in*/) {}

  template <typename T>
  void forward(const Operator& op, const Arguments& arguments, const at::Tensor& out,
               const at::Tensor& denominator) const {
    const auto problem = arguments.problem<T>();
    const auto arrays = op.template arrays<T>(problem);
    attention_forward<T>(problem, make_bias(problem, arrays), writable_rows<T>(out, problem.heads * problem.cv),
                         target<T>(denominator));
  }

  template <typename T>
  std::vector<at::Tensor> backward(const Operator& op, const Arguments& arguments, const OutputMask& output_mask,
                                   const AttentionOutputs& outputs) const {
    const auto problem = arguments.problem<T>();
    const BackwardPlan plan = backward_plan(problem.q_offsets, problem.k_offsets, problem.heads, problem.c, problem.cv,
                                            op.widths(problem.heads, output_mask), !problem.q.computed());
    CoreGradients<T> to(problem, plan, arguments.q.scalar_type());
    auto arrays = op.template arrays<T>(problem);
    op.begin_gradients(problem, plan, output_mask, arrays);
    const int64_t width = problem.heads * problem.cv;
    const AttentionGradOutput<T> grad_output{stored_rows<T>(outputs.grad, width), stored_rows<T>(outputs.out, width),
                                             pointer<T>(outputs.denominator)};
    attention_backward<T>(problem, make_bias(problem, arrays), plan, grad_output, to);
    std::vector<at::Tensor> gradients;
    for (at::Tensor& gradient : to.finish(problem, plan)) gradients.push_back(std::move(gradient));
    for (at::Tensor& gradient : op.gradients(arrays)) gradients.push_back(std::move(gradient));
    return gradients;
  }

 private:
  template <typename T, class Arrays>
  static MakeBias<T> make_bias(const AttentionProblem<T>& problem, const Arrays& arrays) {
    return [&, make = Biases::template make<T>()](bool backward) { return make(arrays, problem.heads, backward); };
  }
};

}  // namespace geosft

// Use in the namespace of a target: make_bias of an operator with one type of bias.
#define GEOSFT_ATTENTION_BIAS(Arrays, Bias)                                                                \
  template <typename T>                                                                                    \
  std::unique_ptr<AttentionBias<T>> make_bias_any(const Arrays<T>& arrays, int64_t heads, bool backward) { \
    return std::make_unique<Bias<T>>(arrays, heads, backward);                                             \
  }                                                                                                        \
  GEOSFT_SIMD_KERNEL(make_bias)

// Use once per source, after GEOSFT_SIMD_KERNEL(make_bias): registers an Operator with this bias.
#define GEOSFT_REGISTER_ATTENTION(Operator)                    \
  namespace geosft {                                           \
  namespace {                                                  \
  GEOSFT_SIMD_EXPORT(make_bias)                                \
  struct Biases {                                              \
    template <typename T>                                      \
    static auto make() {                                       \
      return GEOSFT_SIMD_DISPATCH(T, make_bias);               \
    }                                                          \
  };                                                           \
  } /* namespace */                                            \
  GEOSFT_KERNELS(CPU, m) {                                     \
    implement_attention<AttentionDevice<Operator, Biases>>(m); \
  }                                                            \
  } /* namespace geosft */
