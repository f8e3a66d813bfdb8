// SPDX-License-Identifier: Apache-2.0
// Defines the inputs and outputs of the backward kernels of attention on the CPU.
#pragma once

#include <ATen/ATen.h>

#include <array>

#include "models/ops/cpu/attention_problem.h"
#include "models/ops/cpu/partial_sums.h"

namespace geosft {

// grad and out [Nq, heads, cv] in the type of q, denominator [Nq, heads].
template <typename T>
struct AttentionGradOutput {
  RowAccessor<const T> grad, out;
  const T* denominator;
};

// The gradient of rows that several units may add to: each unit adds to its own copy, and the result is the sum of the
// copies. With a single copy each row belongs to one unit. If the gradient is of a half type, that unit sums in its own
// memory and writes the result once. No buffer is allocated when the gradient is not requested.
template <typename T>
class RowGradient {
 public:
  RowGradient() = default;
  RowGradient(at::IntArrayRef sizes, int64_t copies, at::ScalarType type)
      : width_(c10::multiply_integers(sizes.slice(1))) {
    if (copies == 1 && storage_of<T>(type) != StorageType::opmath) {
      rows_ = at::zeros(sizes, type);  // some rows belong to no unit: keys of items without queries
    } else {
      sums_ = PartialSums<T>(sizes, copies);
    }
  }

  bool defined() const { return rows_.defined() || sums_.defined(); }
  int64_t width() const { return width_; }                 // elements per row
  T* sums(int64_t copy) const { return sums_.get(copy); }  // null if units write rows
  RowAccessor<T> rows(int64_t copy) const {
    return rows_.defined() ? writable_rows<T>(rows_, width_) : RowAccessor<T>{sums_.get(copy), width_};
  }
  // An empty tensor if not requested.
  at::Tensor finish() { return rows_.defined() ? rows_ : sums_.sum(); }

 private:
  int64_t width_ = 0;
  PartialSums<T> sums_;
  at::Tensor rows_;
};

// Gradients common to all attention operators; `type` is that of q, k and v.
template <typename T>
struct CoreGradients {
  CoreGradients(const AttentionProblem<T>& problem, const BackwardPlan& plan, at::ScalarType type)
      : q(at::empty({problem.q_offsets.back(), problem.heads, problem.c}, type)),
        k({problem.k_offsets.back(), problem.heads, problem.c}, plan.groups, type),
        v({problem.k_offsets.back(), problem.heads, problem.cv}, plan.groups, type),
        deltas(at::zeros({static_cast<int64_t>(plan.units.size()), problem.heads}, c10::CppTypeToScalarType<T>::value)),
        dq(writable_rows<T>(q, problem.heads * problem.c)),
        delta_sum(deltas.mutable_data_ptr<T>()) {}

  // Returns the gradients of q, k, v and leak, once all units have run.
  std::array<at::Tensor, 4> finish(const AttentionProblem<T>& problem, const BackwardPlan& plan);

  at::Tensor q;
  RowGradient<T> k, v;
  at::Tensor deltas;
  RowAccessor<T> dq;
  T* delta_sum;  // [units, heads]
};

}  // namespace geosft
