// SPDX-License-Identifier: Apache-2.0
// Converts tensors to the arrays that the attention kernels of a GPU and their emulation read and write, and launches
// them: the Device of models/ops/attention_host.h. The host reads nothing from the device, so it does not check the
// values of ptr: see PackedRows.
#pragma once

#include <cmath>

#include "geometry/device_offsets.h"
#include "geometry/packed.h"
#include "models/ops/attention_host.h"
#include "models/ops/cuda/attention_bias.cuh"
#include "models/ops/cuda/host_tensors.h"

namespace geosft::cuda {

// Holds the arguments common to all attention operators, contiguous.
class AttentionArguments {
 public:
  explicit AttentionArguments(const AttentionInputs& in)
      : q(in.q().contiguous()),
        k(in.k().contiguous()),
        v(in.v().contiguous()),
        leak(in.leak().contiguous()),
        q_ptr(ptr_on_device(in.q_ptr(), q.device(), "q_ptr")),
        k_ptr(ptr_on_device(in.k_ptr(), q.device(), "k_ptr")),
        eps_(in.eps) {
    constexpr int64_t kMaxHeads = 65535;  // maximum grid height
    TORCH_CHECK(q.size(2) <= kMaxWidth, "q must have at most ", kMaxWidth,
                " channels a head on this device, got shape ", q.sizes());
    TORCH_CHECK(v.size(2) <= kMaxWidth, "v must have at most ", kMaxWidth,
                " channels a head on this device, got shape ", v.sizes());
    TORCH_CHECK(q.size(1) <= kMaxHeads, "q must have at most ", kMaxHeads, " heads on this device, got shape ",
                q.sizes());
  }

  template <typename T, class Launcher>
  AttentionArrays<T> arrays() const {
    const int64_t items = q_ptr.defined() ? q_ptr.size(0) - 1 : 1, heads = q.size(1);
    return {stored<T>(q),
            stored<T>(k),
            stored<T>(v),
            stored<T>(leak),
            heads,
            static_cast<int>(q.size(2)),
            static_cast<int>(v.size(2)),
            static_cast<T>(eps_),
            static_cast<T>(1.0 / std::sqrt(static_cast<double>(q.size(2)))),
            {pointer<int64_t>(q_ptr), items, q.size(0)},
            {pointer<int64_t>(k_ptr), items, k.size(0)},
            many_rows<Launcher>(q.size(0), items, heads),
            many_rows<Launcher>(k.size(0), items, heads)};
  }

  // Options of tensors in the type that kernels compute in, on the device of q.
  at::TensorOptions computed() const { return q.options().dtype(at::toOpMathType(q.scalar_type())); }

  at::Tensor q, k, v, leak, q_ptr, k_ptr;

 private:
  // The launcher of a test may choose the tiles itself.
  template <class Launcher>
  static bool many_rows(int64_t rows, int64_t items, int64_t heads) {
    if constexpr (requires { Launcher::many_rows(rows, items, heads); }) {
      return Launcher::many_rows(rows, items, heads);
    } else {
      return worth_many_rows(rows, items, heads);
    }
  }

  double eps_;
};

struct WeightArguments : WeightTensors {
  explicit WeightArguments(const WeightedInputs& in) : WeightTensors(in, contiguous) {}

  template <typename T>
  RelativeWeights<T> arrays() const {
    return {stored<T>(w_mul), stored<T>(b_mul), stored<T>(w_add), stored<T>(b_add)};
  }
};

// The base of an Operator: its inputs, and the traits of its bias, such as DenseBiasTraits.
template <class InputsType, class Traits>
struct BiasOperator {
  using Inputs = InputsType;
  using BiasTraits = Traits;
};

// Runs the kernels of an Operator, which a Launcher(device, op) launches. The Operator is derived from BiasOperator and
// has
//   Operator(const Inputs&, const AttentionArguments&)
//   arrays<T>()                      the inputs of the bias, as the kernels read them
//   begin_gradients<T>(problem, output_mask, arrays&)
//                                    allocates the gradients of the bias and sets their pointers, to null where the
//                                    mask is false
//   gradients()                      the gradients of the floating inputs of the bias in order; any tensor where the
//                                    mask is false
template <class Launcher, class OperatorType>
class AttentionDevice {
 public:
  using Operator = OperatorType;
  using Arguments = AttentionArguments;

  explicit AttentionDevice(const AttentionInputs& in) : launch_(in.q().device(), Operator::Inputs::kOperator) {}

  template <typename T>
  void forward(const Operator& op, const Arguments& arguments, const at::Tensor& out,
               const at::Tensor& denominator) const {
    launch_(AttentionForwardCall<BiasTraits, T>{
        arguments.arrays<T, Launcher>(), op.template arrays<T>(), {storable<T>(out), target<T>(denominator)}});
  }

  template <typename T>
  std::vector<at::Tensor> backward(Operator& op, const Arguments& arguments, const OutputMask& output_mask,
                                   const AttentionOutputs& outputs) const {
    const at::Tensor share = at::empty_like(outputs.denominator), delta = at::empty_like(outputs.denominator);
    std::vector<at::Tensor> gradients;
    for (const at::Tensor* tensor : {&arguments.q, &arguments.k, &arguments.v, &arguments.leak}) {
      gradients.push_back(at::empty_like(*tensor));
    }
    const auto problem = arguments.arrays<T, Launcher>();
    auto bias = op.template arrays<T>();
    op.begin_gradients(problem, output_mask, bias);
    launch_(AttentionBackwardCall<BiasTraits, T>{
        problem,
        bias,
        {stored<T>(outputs.grad), stored<T>(outputs.out), pointer<T>(outputs.denominator), target<T>(share),
         target<T>(delta), storable<T>(gradients[0]), storable<T>(gradients[1]), storable<T>(gradients[2]),
         storable<T>(gradients[3])}});
    for (const at::Tensor& gradient : op.gradients()) gradients.push_back(gradient);
    return gradients;
  }

 private:
  using BiasTraits = typename Operator::BiasTraits;
  Launcher launch_;
};

template <class Launcher, class Operator>
void implement_attention(torch::Library& m) {
  geosft::implement_attention<AttentionDevice<Launcher, Operator>>(m);
}

}  // namespace geosft::cuda
