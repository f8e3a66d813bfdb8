// SPDX-License-Identifier: Apache-2.0
// What the backward kernels of attention read from the forward pass, and what they fill.
#pragma once

#include <ATen/ATen.h>

#include <array>

#include "models/ops/cpu/attention_problem.h"
#include "models/ops/cpu/slots.h"

namespace geosft {

// grad and out [Nq, heads, cv], of the type of q, denominator [Nq, heads].
template <typename T>
struct AttentionUpstream {
  StoredRows<const T> grad, out;
  const T* denominator;
};

// The gradient of k, or of v. Where groups of queries share keys each has a copy; the result is their sum. Without
// groups a unit has keys and heads for itself: of a half type it sums in memory of its own, and writes what it has.
template <typename T>
class KeyGradient {
 public:
  KeyGradient(at::IntArrayRef sizes, const BackwardPlan& plan, at::ScalarType type) {
    const bool rounded = storage_of(type) != Storage::computed;
    if (rounded && plan.groups == 1) {
      rows_ = at::zeros(sizes, type);  // no unit has the keys of items without queries
    } else {
      sums_ = Slots<T>(sizes, plan.groups);
    }
  }

  T* sums(int64_t group) const { return sums_.get(group); }  // null where units write rows()
  StoredRows<T> rows() const { return writable_rows<T>(rows_, rows_.defined() ? rows_.size(1) * rows_.size(2) : 0); }
  at::Tensor finish() { return rows_.defined() ? rows_ : sums_.sum(); }

 private:
  Slots<T> sums_;
  at::Tensor rows_;
};

// The gradients that every attention operator has; `type` is that of q, k and v.
template <typename T>
struct CoreGradients {
  CoreGradients(const AttentionProblem<T>& problem, const BackwardPlan& plan, at::ScalarType type)
      : q(at::empty({problem.q_offsets.back(), problem.heads, problem.c}, type)),
        k({problem.k_offsets.back(), problem.heads, problem.c}, plan, type),
        v({problem.k_offsets.back(), problem.heads, problem.cv}, plan, type),
        deltas(at::zeros({static_cast<int64_t>(plan.units.size()), problem.heads}, c10::CppTypeToScalarType<T>::value)),
        dq(writable_rows<T>(q, problem.heads * problem.c)),
        delta_sum(deltas.mutable_data_ptr<T>()) {}

  // Gradients of q, k, v and leak, once all units have run.
  std::array<at::Tensor, 4> finish(const AttentionProblem<T>& problem, const BackwardPlan& plan);

  at::Tensor q;
  KeyGradient<T> k, v;
  at::Tensor deltas;
  StoredRows<T> dq;
  T* delta_sum;  // [units, heads]
};

}  // namespace geosft
