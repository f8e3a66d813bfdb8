// SPDX-License-Identifier: Apache-2.0
// Defines the inputs and gradients of each kind of attention bias on the CPU (SFT sections 4.3 and 4.4).
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <vector>

#include "models/ops/cpu/attention_gradients.h"
#include "models/ops/cpu/graph_edges.h"
#include "models/ops/cpu/partial_sums.h"

namespace geosft {

// r_mul and r_add, [sum_b nq_b * nk_b, heads]; either may be absent. The rows of item b begin at pair_offsets[b].
template <typename T>
struct DenseInput {
  RowAccessor<const T> mul, add;
  const std::vector<int64_t>* q_offsets = nullptr;
  std::vector<int64_t> pair_offsets;
};
template <typename T>
struct DenseOutput {
  at::Tensor mul, add;
};

// w_* [channels, heads], b_* [heads]: mul = softplus(X w_mul + b_mul), add = X w_add + b_add.
template <typename T>
struct RelativeWeights {
  const T* w_mul = nullptr;
  const T* b_mul = nullptr;
  const T* w_add = nullptr;
  const T* b_add = nullptr;
};

// Gradients of the weights of a relative encoding, with one partial accumulator per part of the work: [parts, 2,
// channels + 1, heads], mul before add, b_* after w_*.
template <typename T>
class WeightGradients {
 public:
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
  T* data_;
};

// Coordinates [N, 3] of queries and keys, normals or null.
template <typename T>
struct PointInput {
  RowAccessor<const T> x, xs, m, ms;
  RelativeWeights<T> weights;
};
// Query gradients have one copy per range of heads (split), key gradients one per split and group of queries.
template <typename T>
struct PointOutput {
  RowGradient<T> x, xs, m, ms;
  WeightGradients<T> weights;
  int64_t groups;
};

// Position encodings s [Nq, depth] of queries and ss [Nk, depth] of keys.
template <typename T>
struct SequenceInput {
  RowAccessor<const T> s, ss;
  int64_t depth = 0;
  RelativeWeights<T> weights;
};
template <typename T>
struct SequenceOutput {
  RowGradient<T> s, ss;
  WeightGradients<T> weights;
  int64_t groups;
};

// edge_attr [E, channels], weight [Nk] of the top relative to the partner.
template <typename T>
struct GraphInput {
  GraphArrays graph;
  const SampledNodes* sampled = nullptr;
  RowAccessor<const T> edge_attr;
  const T* weight = nullptr;
  int64_t channels = 0;
  RelativeWeights<T> weights;
};
template <typename T>
struct GraphOutput {
  RowGradient<T> edge_attr;
  PartialSums<T> weight;
  WeightGradients<T> weights;
  int64_t groups;
};

}  // namespace geosft
