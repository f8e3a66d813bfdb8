// SPDX-License-Identifier: Apache-2.0
// Defines the inputs and outputs of the backward kernels of attention on the CPU.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <vector>

#include "models/ops/cpu/attention_problem.h"

namespace geosft {

// grad and out [Nq, heads, cv] in the type of q, denominator [Nq, heads].
template <typename T>
struct AttentionGradOutput {
  RowAccessor<const T> grad, out;
  const T* denominator;
};

// Keeps partial accumulators: each unit of work adds to its own copy, and the copies are summed in order, so that
// results have the same bits on any number of threads. The first copy is the result itself. No buffer is allocated when
// the gradient is not requested.
template <typename T>
class PartialSums {
 public:
  PartialSums() = default;
  PartialSums(at::IntArrayRef sizes, int64_t count) : first_(at::zeros(sizes, c10::CppTypeToScalarType<T>::value)) {
    std::vector<int64_t> more(sizes.begin(), sizes.end());
    more.insert(more.begin(), std::max<int64_t>(count - 1, 0));
    rest_ = at::zeros(more, first_.options());
  }

  bool defined() const { return first_.defined(); }

  // Null if no buffer was allocated.
  T* get(int64_t unit) const {
    if (!defined()) return nullptr;
    if (unit == 0) return first_.template mutable_data_ptr<T>();
    return rest_.template mutable_data_ptr<T>() + (unit - 1) * first_.numel();
  }

  // An empty tensor if no buffer was allocated.
  at::Tensor sum() {
    if (!defined()) return at::empty({0}, c10::CppTypeToScalarType<T>::value);
    for (int64_t s = 0; s < rest_.size(0); ++s) first_.add_(rest_.select(0, s));
    return first_;
  }

 private:
  at::Tensor first_, rest_;
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

// Gradients of the weights of a relative encoding, with one partial accumulator per part of the work: [parts, 2,
// channels + 1, heads], mul before add, b_* after w_*.
template <typename T>
class WeightGradients {
 public:
  WeightGradients() = default;
  WeightGradients(const BackwardPlan& plan, int64_t channels, int64_t heads)
      : parts_(at::zeros({plan.part_count(), 2, channels + 1, heads}, c10::CppTypeToScalarType<T>::value)),
        data_(parts_.mutable_data_ptr<T>()) {}

  static int64_t width(int64_t channels, int64_t heads) { return 2 * (channels + 1) * heads; }

  T* mul(int64_t part, int64_t channels, int64_t heads) const { return data_ + part * width(channels, heads); }
  T* add(int64_t part, int64_t channels, int64_t heads) const {
    return mul(part, channels, heads) + (channels + 1) * heads;
  }

  // Returns the gradients of w_mul, b_mul, w_add and b_add.
  std::array<at::Tensor, 4> finish() const {
    at::Tensor sum = at::zeros(parts_.sizes().slice(1), parts_.options());
    for (int64_t p = 0; p < parts_.size(0); ++p) sum.add_(parts_.select(0, p));
    const int64_t channels = sum.size(1) - 1;
    const auto part = [&](int64_t which) { return sum.select(0, which).slice(0, 0, channels).contiguous(); };
    const auto bias = [&](int64_t which) { return sum.select(0, which).select(0, channels).contiguous(); };
    return {part(0), bias(0), part(1), bias(1)};
  }

 private:
  at::Tensor parts_;
  T* data_ = nullptr;
};

// Returns the gradients of an attention bias: those of its rows, then those of its weights.
template <typename T>
std::vector<at::Tensor> bias_gradients(std::vector<at::Tensor> rows, const WeightGradients<T>& weights) {
  for (at::Tensor& gradient : weights.finish()) rows.push_back(std::move(gradient));
  return rows;
}

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

  // Returns the gradients of q, k, v and leak, once all units have run. dleak_j = -sigmoid(leak_j) sum_i delta_i: the
  // sum is one number per item and head.
  std::array<at::Tensor, 4> finish(const AttentionProblem<T>& problem, const BackwardPlan& plan) {
    at::Tensor per_item = at::zeros({problem.items(), problem.heads}, deltas.options());
    T* sums = per_item.mutable_data_ptr<T>();
    for (size_t u = 0; u < plan.units.size(); ++u) {
      for (int64_t h = 0; h < problem.heads; ++h) {
        sums[plan.units[u].item * problem.heads + h] += delta_sum[static_cast<int64_t>(u) * problem.heads + h];
      }
    }
    at::Tensor leak = at::empty({problem.k_offsets.back(), problem.heads}, deltas.options());
    T* to = leak.mutable_data_ptr<T>();
    for (int64_t b = 0; b < problem.items(); ++b) {
      for (int64_t j = problem.k_offsets[b]; j < problem.k_offsets[b + 1]; ++j) {
        for (int64_t h = 0; h < problem.heads; ++h) {
          const T sigmoid = T(1) / (T(1) + std::exp(-problem.leak[j * problem.heads + h]));
          to[j * problem.heads + h] = sigmoid * sums[b * problem.heads + h];
        }
      }
    }
    return {q, k.finish(), v.finish(), leak};
  }

  at::Tensor q;
  RowGradient<T> k, v;
  at::Tensor deltas;
  RowAccessor<T> dq;
  T* delta_sum;  // [units, heads]
};

}  // namespace geosft
