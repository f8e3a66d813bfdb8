// SPDX-License-Identifier: Apache-2.0
// Provides the attention bias of point_attention from tensors: coordinates, normals and weights.
#pragma once

#include "models/ops/cuda/attention_host.h"
#include "models/ops/cuda/attention_sizes.h"
#include "models/ops/cuda/point_bias.cuh"

namespace geosft::cuda {

class PointOperator {
 public:
  using Inputs = PointInputs;
  using BiasTraits = PointBiasTraits;

  PointOperator(const Inputs& in, const AttentionArguments& arguments)
      : x_(contiguous(in.x())),
        xs_(contiguous(in.xs())),
        m_(contiguous(in.m())),
        ms_(contiguous(in.ms())),
        w_mul_(contiguous(in.w_mul())),
        b_mul_(contiguous(in.b_mul())),
        w_add_(contiguous(in.w_add())),
        b_add_(contiguous(in.b_add())),
        computed_(arguments.computed()) {}

  template <typename T>
  PointArrays<T> arrays() const {
    PointArrays<T> arrays{};
    arrays.x = stored<T>(x_);
    arrays.xs = stored<T>(xs_);
    arrays.m = stored<T>(m_);
    arrays.ms = stored<T>(ms_);
    arrays.w_mul = stored<T>(w_mul_);
    arrays.b_mul = stored<T>(b_mul_);
    arrays.w_add = stored<T>(w_add_);
    arrays.b_add = stored<T>(b_add_);
    return arrays;
  }

  // Row gradients are accumulated per head, weight gradients per query tile; unused tile slots stay zero.
  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, const OutputMask& output_mask, PointArrays<T>& arrays) {
    const auto rows = [&](const at::Tensor& points, bool needed) -> T* {
      if (!points.defined()) return nullptr;
      rows_.push_back(at::empty({needed ? points.size(0) : 0, problem.heads, 3}, computed_));
      return needed ? target<T>(rows_.back()) : nullptr;
    };
    arrays.x_grad = rows(x_, output_mask.own(0));
    arrays.xs_grad = rows(xs_, output_mask.own(1));
    arrays.m_grad = rows(m_, output_mask.own(2));
    arrays.ms_grad = rows(ms_, output_mask.own(3));
    weights_ = at::zeros({gradient_slots<PointBiasTraits>(problem), problem.heads, 2, 3}, computed_);
    arrays.weight_grad = target<T>(weights_);
  }

  std::vector<at::Tensor> gradients() const {
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& copies : rows_) gradients.push_back(copies.sum(1));
    const at::Tensor weights = weights_.sum(0);  // [heads, 2, 3]
    for (int64_t which = 0; which < 2; ++which) {
      gradients.push_back(weights.select(1, which).slice(1, 0, w_mul_.size(0)).t().contiguous());
      gradients.push_back(weights.select(1, which).select(1, 2).contiguous());
    }
    return gradients;
  }

 private:
  at::Tensor x_, xs_, m_, ms_, w_mul_, b_mul_, w_add_, b_add_;
  at::TensorOptions computed_;
  std::vector<at::Tensor> rows_;
  at::Tensor weights_;
};

}  // namespace geosft::cuda
