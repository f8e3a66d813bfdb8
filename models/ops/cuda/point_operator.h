// SPDX-License-Identifier: Apache-2.0
// What point_attention has beside q, k, v and leak: coordinates, normals and weights.
#pragma once

#include "models/ops/cuda/attention_host.h"
#include "models/ops/cuda/attention_sizes.h"
#include "models/ops/cuda/point_term.h"

namespace geosft::cuda {

class PointOperator {
 public:
  using Inputs = PointInputs;
  using Relation = PointRelation;

  PointOperator(const Inputs& in, const AttentionArguments&)
      : x_(computable(in.x())),
        xs_(computable(in.xs())),
        m_(computable(in.m())),
        ms_(computable(in.ms())),
        w_mul_(computable(in.w_mul())),
        b_mul_(computable(in.b_mul())),
        w_add_(computable(in.w_add())),
        b_add_(computable(in.b_add())) {}

  template <typename T>
  PointArrays<T> arrays() const {
    PointArrays<T> arrays{};
    arrays.x = pointer<T>(x_);
    arrays.xs = pointer<T>(xs_);
    arrays.m = pointer<T>(m_);
    arrays.ms = pointer<T>(ms_);
    arrays.w_mul = pointer<T>(w_mul_);
    arrays.b_mul = pointer<T>(b_mul_);
    arrays.w_add = pointer<T>(w_add_);
    arrays.b_add = pointer<T>(b_add_);
    return arrays;
  }

  // Rows have a copy of their gradient a head, weights one a tile of queries; unused slots of tiles stay zero.
  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, PointArrays<T>& arrays) {
    const auto rows = [&](const at::Tensor& points) {
      rows_.push_back(at::empty({points.size(0), problem.heads, 3}, points.options()));
      return target<T>(rows_.back());
    };
    arrays.x_grad = rows(x_);
    arrays.xs_grad = rows(xs_);
    if (m_.defined()) arrays.m_grad = rows(m_);
    if (m_.defined()) arrays.ms_grad = rows(ms_);
    weights_ = at::zeros({gradient_slots<PointRelation>(problem), problem.heads, 2, 3}, x_.options());
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
  std::vector<at::Tensor> rows_;
  at::Tensor weights_;
};

}  // namespace geosft::cuda
