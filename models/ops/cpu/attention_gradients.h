// SPDX-License-Identifier: Apache-2.0
// What the backward kernels of attention read from the forward pass, and what they fill.
#pragma once

#include <ATen/ATen.h>

#include <array>

#include "models/ops/cpu/attention_problem.h"
#include "models/ops/cpu/slots.h"

namespace geosft {

// grad and out [Nq, heads, cv], denominator [Nq, heads].
template <typename T>
struct AttentionUpstream {
  const T* grad;
  const T* out;
  const T* denominator;
};

// The gradients that every attention operator has. Key-side ones have one copy per group of queries.
template <typename T>
struct CoreGradients {
  CoreGradients(const AttentionProblem<T>& problem, const BackwardPlan& plan)
      : q(at::empty({problem.q_offsets.back(), problem.heads, problem.c}, c10::CppTypeToScalarType<T>::value)),
        dk({problem.k_offsets.back(), problem.heads, problem.c}, plan.groups),
        dv({problem.k_offsets.back(), problem.heads, problem.cv}, plan.groups),
        deltas(at::zeros({static_cast<int64_t>(plan.units.size()), problem.heads}, q.options())),
        dq(q.mutable_data_ptr<T>()),
        delta_sum(deltas.mutable_data_ptr<T>()) {}

  // Gradients of q, k, v and leak, once all units have run.
  std::array<at::Tensor, 4> finish(const AttentionProblem<T>& problem, const BackwardPlan& plan);

  at::Tensor q;
  Slots<T> dk, dv;
  at::Tensor deltas;
  T* dq;
  T* delta_sum;  // [units, heads]
};

}  // namespace geosft
