// SPDX-License-Identifier: Apache-2.0
// Computes the attention bias of manhattan_attention: X_R[i, j] = (|x_i - xs_j|_1, m_i . ms_j) from the coordinates in
// shared memory, mul = softplus(X_R w_mul + b_mul), add = X_R w_add + b_add (SFT section 4.4).
#pragma once

#include "models/ops/cuda/attention_bias.cuh"
#if !defined(__CUDACC__)
#include "models/ops/cuda/attention_host.h"
#include "models/ops/manhattan_attention.h"
#endif

namespace geosft::cuda {

// Coordinates and normals [rows, 3] (normals may be null), weights [channels, heads], biases [heads]. Row gradients are
// accumulated per head, [rows, heads, 3], and are null if not requested. Weight gradients are accumulated per query
// tile, [slots, heads, 6]: the two channels and the bias of mul, then those of add.
template <typename T>
struct ManhattanArrays {
  Accessor<const T> x, xs, m, ms;
  RelativeWeights<T> weights;
  T* x_grad;
  T* xs_grad;
  T* m_grad;
  T* ms_grad;
  T* weight_grad;
};

template <typename T, Side kSide>
class ManhattanBias : public BiasSteps {
 public:
  template <int Own, int Other>
  struct Tiles {
    Vec4<T> own_x[Own], own_m[Own], other_x[Other], other_m[Other];
    T staged[kThreads][6];
  };
  struct RowSums {
    T x[3], m[3];
  };
  struct ThreadSums {
    T mul[3], add[3];  // two channels and the bias
  };

  GEOSFT_DEVICE ManhattanBias(const ManhattanArrays<T>& in, const AttentionArrays<T>& p, const TileRows&, int64_t head)
      : in_(in), heads_(p.heads), head_(head), normals_(static_cast<bool>(in.m)) {
    mul_[0] = in.weights.w_mul.read(head);
    add_[0] = in.weights.w_add.read(head);
    mul_[1] = normals_ ? in.weights.w_mul.read(heads_ + head) : T(0);
    add_[1] = normals_ ? in.weights.w_add.read(heads_ + head) : T(0);
    mul_[2] = in.weights.b_mul.read(head);
    add_[2] = in.weights.b_add.read(head);
  }

  template <class Memory>
  GEOSFT_DEVICE void load_own(Memory& memory, int64_t begin, int count, int thread) const {
    load_points(memory.own_x, kSide == Side::kQuery ? in_.x : in_.xs, begin, count, thread);
    if (normals_) load_points(memory.own_m, kSide == Side::kQuery ? in_.m : in_.ms, begin, count, thread);
  }
  template <class Memory>
  GEOSFT_DEVICE void load_other(Memory& memory, int64_t begin, int count, int thread) const {
    load_points(memory.other_x, kSide == Side::kQuery ? in_.xs : in_.x, begin, count, thread);
    if (normals_) load_points(memory.other_m, kSide == Side::kQuery ? in_.ms : in_.m, begin, count, thread);
  }

  template <class Memory>
  GEOSFT_DEVICE BiasValue<T> relative(const Memory& memory, const Pair& pair) const {
    const Channels channels = sample(memory, pair);
    const Softplus<T> mul = softplus_with_slope(apply(mul_, channels));
    return {mul.value, apply(add_, channels), mul.slope};
  }

  template <class Memory>
  GEOSFT_DEVICE void collect(const Memory& memory, const Pair& pair, const BiasValue<T>& relative, T score, T raw,
                             RowSums& row, ThreadSums& sums) const {
    const T to_mul = score * raw * relative.slope;
    if (kSide == Side::kQuery) {
      const Channels channels = sample(memory, pair);
      sums.mul[0] += to_mul * channels.distance;
      sums.add[0] += score * channels.distance;
      sums.mul[2] += to_mul;
      sums.add[2] += score;
      if (normals_) {
        sums.mul[1] += to_mul * channels.product;
        sums.add[1] += score * channels.product;
      }
    }
    if (x_grad()) {
      const Vec4<T> own = memory.own_x[pair.own], other = memory.other_x[pair.other];
      const T distance = to_mul * mul_[0] + score * add_[0];
      GEOSFT_UNROLL
      for (int a = 0; a < 3; ++a) row.x[a] += distance * T((own.v[a] > other.v[a]) - (own.v[a] < other.v[a]));
    }
    if (!m_grad()) return;
    const Vec4<T> normal = memory.other_m[pair.other];
    const T product = to_mul * mul_[1] + score * add_[1];
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a) row.m[a] += product * normal.v[a];
  }

  GEOSFT_DEVICE void store(int64_t row, const RowSums& sums) const {
    const int64_t at = (row * heads_ + head_) * 3;
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (x_grad()) x_grad()[at + a] = sums.x[a];
      if (m_grad()) m_grad()[at + a] = sums.m[a];
    }
  }

  // Reduces the weight gradients over the block. The threads' sums are added in thread order, so results are bitwise
  // reproducible.
  template <class Memory>
  GEOSFT_DEVICE void stage(Memory& memory, const ThreadSums& sums, int thread) const {
    GEOSFT_UNROLL
    for (int i = 0; i < 3; ++i) {
      memory.staged[thread][i] = sums.mul[i];
      memory.staged[thread][3 + i] = sums.add[i];
    }
  }
  template <class Memory>
  GEOSFT_DEVICE void finish(const Memory& memory, int64_t slot, int thread) const {
    if (kSide == Side::kQuery && thread < 6) {
      T sum = 0;
      for (int t = 0; t < kThreads; ++t) sum += memory.staged[t][thread];
      in_.weight_grad[(slot * heads_ + head_) * 6 + thread] = sum;
    }
  }

 private:
  struct Channels {
    T distance, product;
  };

  // Gradients of the tile's own rows; null if not requested.
  GEOSFT_DEVICE T* x_grad() const { return kSide == Side::kQuery ? in_.x_grad : in_.xs_grad; }
  GEOSFT_DEVICE T* m_grad() const { return kSide == Side::kQuery ? in_.m_grad : in_.ms_grad; }

  template <int Rows>
  GEOSFT_DEVICE static void load_points(Vec4<T> (&tile)[Rows], const Accessor<const T>& points, int64_t begin,
                                        int count, int thread) {
    points.visit([&](const auto* numbers) {
      for (int i = thread; i < Rows * 3; i += kThreads) {
        tile[i / 3].v[i % 3] = i / 3 < count ? widened(numbers[begin * 3 + i]) : T(0);
      }
    });
  }

  template <class Memory>
  GEOSFT_DEVICE Channels sample(const Memory& memory, const Pair& pair) const {
    const Vec4<T> own = memory.own_x[pair.own], other = memory.other_x[pair.other];
    Channels channels{T(0), T(0)};
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a) {
      const T apart = own.v[a] - other.v[a];
      channels.distance += apart < 0 ? -apart : apart;
    }
    if (!normals_) return channels;
    const Vec4<T> own_m = memory.own_m[pair.own], other_m = memory.other_m[pair.other];
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a) channels.product += own_m.v[a] * other_m.v[a];
    return channels;
  }

  GEOSFT_DEVICE T apply(const T (&weights)[3], const Channels& channels) const {
    return channels.distance * weights[0] + (channels.product * weights[1] + weights[2]);
  }

  const ManhattanArrays<T>& in_;
  int64_t heads_, head_;
  bool normals_;
  T mul_[3], add_[3];
};

using ManhattanBiasTraits = BiasTypes<ManhattanArrays, ManhattanBias, true>;

#if !defined(__CUDACC__)
// Provides the attention bias of manhattan_attention from tensors: coordinates, normals and weights.
class ManhattanOperator {
 public:
  using Inputs = ManhattanInputs;
  using BiasTraits = ManhattanBiasTraits;

  ManhattanOperator(const Inputs& in, const AttentionArguments& arguments)
      : x_(contiguous(in.x())),
        xs_(contiguous(in.xs())),
        m_(contiguous(in.m())),
        ms_(contiguous(in.ms())),
        weights_(in),
        computed_(arguments.computed()) {}

  template <typename T>
  ManhattanArrays<T> arrays() const {
    ManhattanArrays<T> arrays{};
    arrays.x = stored<T>(x_);
    arrays.xs = stored<T>(xs_);
    arrays.m = stored<T>(m_);
    arrays.ms = stored<T>(ms_);
    arrays.weights = weights_.arrays<T>();
    return arrays;
  }

  // Row gradients are accumulated per head, weight gradients per query tile; unused tile slots stay zero.
  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, const OutputMask& output_mask, ManhattanArrays<T>& arrays) {
    const auto rows = [&](const at::Tensor& points, bool needed) -> T* {
      if (!points.defined()) return nullptr;
      rows_.push_back(at::empty({needed ? points.size(0) : 0, problem.heads, 3}, computed_));
      return needed ? target<T>(rows_.back()) : nullptr;
    };
    arrays.x_grad = rows(x_, output_mask.own(0));
    arrays.xs_grad = rows(xs_, output_mask.own(1));
    arrays.m_grad = rows(m_, output_mask.own(2));
    arrays.ms_grad = rows(ms_, output_mask.own(3));
    weight_grad_ = at::zeros({gradient_slots<ManhattanBiasTraits>(problem), problem.heads, 2, 3}, computed_);
    arrays.weight_grad = target<T>(weight_grad_);
  }

  std::vector<at::Tensor> gradients() const {
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& copies : rows_) gradients.push_back(copies.sum(1));
    const at::Tensor weights = weight_grad_.sum(0);  // [heads, 2, 3]
    for (int64_t which = 0; which < 2; ++which) {
      gradients.push_back(weights.select(1, which).slice(1, 0, weights_.w_mul.size(0)).t().contiguous());
      gradients.push_back(weights.select(1, which).select(1, 2).contiguous());
    }
    return gradients;
  }

 private:
  at::Tensor x_, xs_, m_, ms_;
  WeightArguments weights_;
  at::TensorOptions computed_;
  std::vector<at::Tensor> rows_;
  at::Tensor weight_grad_;
};
#endif

}  // namespace geosft::cuda
