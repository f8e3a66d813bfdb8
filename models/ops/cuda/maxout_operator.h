// SPDX-License-Identifier: Apache-2.0
// What maxout_attention has beside q, k, v and leak: r_mul and r_add.
#pragma once

#include "models/ops/cuda/attention_host.h"
#include "models/ops/cuda/dense_term.h"

namespace geosft::cuda {

class MaxoutOperator {
 public:
  using Inputs = MaxoutInputs;
  using Relation = DenseRelation;

  MaxoutOperator(const Inputs& in, const AttentionArguments& arguments)
      : mul_(computable(in.r_mul())), add_(computable(in.r_add())) {
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
    return {pointer<T>(mul_), pointer<T>(add_), pointer<int64_t>(pair_ptr_), pairs_, nullptr, nullptr};
  }

  template <typename T>
  void begin_gradients(const AttentionArrays<T>&, DenseArrays<T>& arrays) {
    if (mul_.defined()) gradients_.push_back(at::zeros_like(mul_));
    if (mul_.defined()) arrays.mul_grad = target<T>(gradients_.back());
    if (add_.defined()) gradients_.push_back(at::zeros_like(add_));
    if (add_.defined()) arrays.add_grad = target<T>(gradients_.back());
  }
  std::vector<at::Tensor> gradients() const { return gradients_; }

 private:
  at::Tensor mul_, add_, pair_ptr_;
  int64_t pairs_ = 0;
  std::vector<at::Tensor> gradients_;
};

}  // namespace geosft::cuda
