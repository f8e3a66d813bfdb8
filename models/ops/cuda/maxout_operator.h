// SPDX-License-Identifier: Apache-2.0
// Provides the attention bias of maxout_attention from tensors: r_mul and r_add.
#pragma once

#include "models/ops/cuda/attention_host.h"
#include "models/ops/cuda/dense_bias.cuh"

namespace geosft::cuda {

class MaxoutOperator {
 public:
  using Inputs = MaxoutInputs;
  using BiasTraits = DenseBiasTraits;

  MaxoutOperator(const Inputs& in, const AttentionArguments& arguments)
      : mul_(contiguous(in.r_mul())), add_(contiguous(in.r_add())) {
    if (!mul_.defined() && !add_.defined()) return;
    pairs_ = (mul_.defined() ? mul_ : add_).size(0);
    if (!arguments.q_ptr.defined()) {
      pair_ptr_ = at::zeros({1}, arguments.q.options().dtype(at::kLong));
      return;
    }
    TORCH_CHECK(!mul_.defined() || !add_.defined() || add_.size(0) == pairs_, "r_add must have the rows of r_mul, ",
                pairs_, ", got shape ", add_.sizes());
    const at::Tensor counts = arguments.q_ptr.diff() * arguments.k_ptr.diff();
    pair_ptr_ = counts.cumsum(0) - counts;
  }

  template <typename T>
  DenseArrays<T> arrays() const {
    return {stored<T>(mul_), stored<T>(add_), pointer<int64_t>(pair_ptr_), pairs_, {}, {}};
  }

  template <typename T>
  void begin_gradients(const AttentionArrays<T>&, const OutputMask& output_mask, DenseArrays<T>& arrays) {
    const auto like = [&](const at::Tensor& pairs, bool needed) {
      if (!pairs.defined()) return Accessor<T>{};
      gradients_.push_back(needed ? at::zeros_like(pairs) : at::empty({0}, pairs.options()));
      return needed ? storable<T>(gradients_.back()) : Accessor<T>{};
    };
    arrays.mul_grad = like(mul_, output_mask.own(0));
    arrays.add_grad = like(add_, output_mask.own(1));
  }
  std::vector<at::Tensor> gradients() const { return gradients_; }

 private:
  at::Tensor mul_, add_, pair_ptr_;
  int64_t pairs_ = 0;
  std::vector<at::Tensor> gradients_;
};

}  // namespace geosft::cuda
