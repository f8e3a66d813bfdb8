// SPDX-License-Identifier: Apache-2.0
// Provides the attention bias of sequence_attention from tensors: position encodings and weights.
#pragma once

#include "models/ops/cuda/attention_host.h"
#include "models/ops/cuda/attention_sizes.h"
#include "models/ops/cuda/sequence_bias.cuh"

namespace geosft::cuda {

class SequenceOperator {
 public:
  using Inputs = SequenceInputs;
  using BiasTraits = SequenceBiasTraits;

  SequenceOperator(const Inputs& in, const AttentionArguments& arguments)
      : s_(contiguous(in.s())),
        ss_(contiguous(in.ss())),
        w_mul_(contiguous(in.w_mul())),
        b_mul_(contiguous(in.b_mul())),
        w_add_(contiguous(in.w_add())),
        b_add_(contiguous(in.b_add())),
        computed_(arguments.computed()) {}

  template <typename T>
  SequenceArrays<T> arrays() const {
    SequenceArrays<T> arrays{};
    arrays.s = stored<T>(s_);
    arrays.ss = stored<T>(ss_);
    arrays.depth = s_.size(1);
    arrays.w_mul = stored<T>(w_mul_);
    arrays.b_mul = stored<T>(b_mul_);
    arrays.w_add = stored<T>(w_add_);
    arrays.b_add = stored<T>(b_add_);
    return arrays;
  }

  // Row gradients are accumulated per head; those of the keys are multiplied by the weights afterwards.
  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, const OutputMask& output_mask, SequenceArrays<T>& arrays) {
    s_grad_ = at::empty({output_mask.own(0) ? s_.size(0) : 0, problem.heads, s_.size(1)}, computed_);
    product_ = at::empty({ss_.size(0), problem.heads, 2, s_.size(1)}, computed_);
    bias_grad_ = at::zeros({gradient_slots<SequenceBiasTraits>(problem), problem.heads, 2}, computed_);
    ss_needed_ = output_mask.own(1);
    if (output_mask.own(0)) arrays.s_grad = target<T>(s_grad_);
    arrays.product = target<T>(product_);
    arrays.bias_grad = target<T>(bias_grad_);
  }

  std::vector<at::Tensor> gradients() const {
    const at::Tensor weights = at::stack({w_mul_.t(), w_add_.t()}, 1);  // [heads, 2, depth]
    const at::Tensor weight_grad =
        (product_ * ss_.unsqueeze(1).unsqueeze(1)).sum(0).transpose(0, 2);  // [depth, 2, heads]
    const at::Tensor biases = bias_grad_.sum(0);
    return {s_grad_.sum(1),
            ss_needed_ ? (product_ * weights).sum({1, 2}) : at::empty({0}, computed_),
            weight_grad.select(1, 0).contiguous(),
            biases.select(1, 0).contiguous(),
            weight_grad.select(1, 1).contiguous(),
            biases.select(1, 1).contiguous()};
  }

 private:
  at::Tensor s_, ss_, w_mul_, b_mul_, w_add_, b_add_;
  at::TensorOptions computed_;
  at::Tensor s_grad_, product_, bias_grad_;
  bool ss_needed_ = true;
};

}  // namespace geosft::cuda
