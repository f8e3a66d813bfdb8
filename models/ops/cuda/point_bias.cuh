// SPDX-License-Identifier: Apache-2.0
// Computes the attention bias of point_attention: the channels X_R[i, j] from the coordinates and normals in shared
// memory, mul = softplus(X_R w_mul + b_mul), add = X_R w_add + b_add (SFT section 4.4). X_R with angles has kernels of
// its own, which take more registers.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"
#if !defined(__CUDACC__)
#include "models/ops/cuda/attention_arguments.h"
#endif

namespace geosft::cuda {

// Coordinates and normals [rows, 3] (normals may be null), weights [channels, heads], biases [heads]. Row gradients are
// accumulated per head, [rows, heads, 3], and are null if not requested. `channels` is 1, 2, 4 or 5. Weight gradients
// are accumulated per query tile, [blocks, heads, 2, kMaxChannels + 1]: the channels of the kernel and the bias of mul,
// then those of add.
template <typename T>
struct PointArrays {
  Accessor<const T> x, xs, m, ms;
  RelativeWeights<T> weights;
  int64_t channels;
  T* x_grad;
  T* xs_grad;
  T* m_grad;
  T* ms_grad;
  T* weight_grad;
};

// kAngles: with the channels m_i . d and ms_j . d for d = xs_j - x_i and, if there are five, (m_i x ms_j) . d.
template <typename T, RowKind kRowKind, bool kAngles>
class PointBiasOf : public BiasSteps {
 public:
  static constexpr int kMaxChannels = kAngles ? 5 : 2;
  template <int Rows, int Columns>
  struct Tiles {
    Vec4<T> row_x[Rows], row_m[Rows], column_x[Columns], column_m[Columns];
    T staged[kThreads][2 * (kMaxChannels + 1)];
  };
  struct RowSums {
    T x[3], m[3];
  };
  struct ThreadSums {
    T mul[kMaxChannels + 1], add[kMaxChannels + 1];  // the channels and the bias
  };

  GEOSFT_DEVICE PointBiasOf(const PointArrays<T>& in, const AttentionArrays<T>& p, const TileSpan&, int64_t head)
      : in_(in), heads_(p.heads), head_(head), normals_(kAngles || static_cast<bool>(in.m)), triple_(in.channels > 4) {
    // The channels of both kinds are read outside of the loop: inside it, ptxas spills registers at 32 channels per
    // head.
    mul_[0] = in.weights.w_mul.read(head);
    add_[0] = in.weights.w_add.read(head);
    mul_[1] = normals_ ? in.weights.w_mul.read(heads_ + head) : T(0);
    add_[1] = normals_ ? in.weights.w_add.read(heads_ + head) : T(0);
    GEOSFT_UNROLL
    for (int ch = 2; ch < kMaxChannels; ++ch) {
      const bool there = ch < 4 || triple_;
      mul_[ch] = there ? in.weights.w_mul.read(ch * heads_ + head) : T(0);
      add_[ch] = there ? in.weights.w_add.read(ch * heads_ + head) : T(0);
    }
    mul_[kMaxChannels] = in.weights.b_mul.read(head);
    add_[kMaxChannels] = in.weights.b_add.read(head);
  }

  template <class Memory>
  GEOSFT_DEVICE void load_row_inputs(Memory& memory, int64_t begin, int count, int thread) const {
    load_points(memory.row_x, kRowKind == RowKind::kQuery ? in_.x : in_.xs, begin, count, thread);
    if (normals_) load_points(memory.row_m, kRowKind == RowKind::kQuery ? in_.m : in_.ms, begin, count, thread);
  }
  template <class Memory>
  GEOSFT_DEVICE void load_column_inputs(Memory& memory, int64_t begin, int count, int thread) const {
    load_points(memory.column_x, kRowKind == RowKind::kQuery ? in_.xs : in_.x, begin, count, thread);
    if (normals_) load_points(memory.column_m, kRowKind == RowKind::kQuery ? in_.ms : in_.m, begin, count, thread);
  }

  template <class Memory>
  GEOSFT_DEVICE BiasValue<T> value(const Memory& memory, const Pair& pair) const {
    const Channels channels = sample(memory, pair);
    const Softplus<T> mul = softplus_with_slope(apply(mul_, channels));
    return {mul.value, apply(add_, channels), mul.slope};
  }

  template <class Memory>
  GEOSFT_DEVICE void collect(const Memory& memory, const Pair& pair, const BiasValue<T>& value, T score, T raw,
                             RowSums& row, ThreadSums& sums) const {
    const T to_mul = score * raw * value.slope;
    if (kRowKind == RowKind::kQuery) {
      const Channels channels = sample(memory, pair);
      sums.mul[kMaxChannels] += to_mul;
      sums.add[kMaxChannels] += score;
      GEOSFT_UNROLL
      for (int ch = 0; ch < kMaxChannels; ++ch) {
        if (ch == 1 && !normals_) continue;
        sums.mul[ch] += to_mul * channels.v[ch];
        sums.add[ch] += score * channels.v[ch];
      }
    }
    if constexpr (kAngles) {
      if (x_grad() || m_grad()) collect_angles(memory, pair, to_mul, score, row);
    } else {
      if (x_grad()) {
        const Vec4<T> row_point = memory.row_x[pair.row], column_point = memory.column_x[pair.column];
        const T distance = T(2) * (to_mul * mul_[0] + score * add_[0]);
        GEOSFT_UNROLL
        for (int a = 0; a < 3; ++a) row.x[a] += distance * (row_point.v[a] - column_point.v[a]);
      }
      if (!m_grad()) return;
      const Vec4<T> normal = memory.column_m[pair.column];
      const T product = to_mul * mul_[1] + score * add_[1];
      GEOSFT_UNROLL
      for (int a = 0; a < 3; ++a) row.m[a] += product * normal.v[a];
    }
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
    for (int i = 0; i <= kMaxChannels; ++i) {
      memory.staged[thread][i] = sums.mul[i];
      memory.staged[thread][kMaxChannels + 1 + i] = sums.add[i];
    }
  }
  template <class Memory>
  GEOSFT_DEVICE void finish(const Memory& memory, int64_t block, int thread) const {
    constexpr int kSums = 2 * (kMaxChannels + 1);
    if (kRowKind == RowKind::kQuery && thread < kSums) {
      T sum = 0;
      for (int t = 0; t < kThreads; ++t) sum += memory.staged[t][thread];
      in_.weight_grad[(block * heads_ + head_) * kSums + thread] = sum;
    }
  }

 private:
  struct Channels {
    T v[kMaxChannels];
  };
  // A pair's normals of the query and the key, and its difference of coordinates, key minus query.
  struct Geometry {
    Vec4<T> query_m, key_m, apart;
  };

  // Gradients of the tile's rows; null if not requested.
  GEOSFT_DEVICE T* x_grad() const { return kRowKind == RowKind::kQuery ? in_.x_grad : in_.xs_grad; }
  GEOSFT_DEVICE T* m_grad() const { return kRowKind == RowKind::kQuery ? in_.m_grad : in_.ms_grad; }

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
    const Vec4<T> row_point = memory.row_x[pair.row], column_point = memory.column_x[pair.column];
    Channels channels{};
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a) {
      const T apart = row_point.v[a] - column_point.v[a];
      channels.v[0] += apart * apart;
    }
    if (!normals_) return channels;
    const Vec4<T> row_m = memory.row_m[pair.row], column_m = memory.column_m[pair.column];
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a) channels.v[1] += row_m.v[a] * column_m.v[a];
    if constexpr (kAngles) {
      const Geometry g = geometry(memory, pair);
      channels.v[2] = dot(g.query_m, g.apart);
      channels.v[3] = dot(g.key_m, g.apart);
      if (triple_) channels.v[4] = dot(cross(g.query_m, g.key_m), g.apart);
    }
    return channels;
  }

  template <class Memory>
  GEOSFT_DEVICE static Geometry geometry(const Memory& memory, const Pair& pair) {
    constexpr bool kOfQuery = kRowKind == RowKind::kQuery;
    const Vec4<T> row_point = memory.row_x[pair.row], column_point = memory.column_x[pair.column];
    const Vec4<T> row_m = memory.row_m[pair.row], column_m = memory.column_m[pair.column];
    Geometry g{kOfQuery ? row_m : column_m, kOfQuery ? column_m : row_m, {}};
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a)
      g.apart.v[a] = kOfQuery ? column_point.v[a] - row_point.v[a] : row_point.v[a] - column_point.v[a];
    return g;
  }

  // Sums, with g the gradients of the channels, m and s the normals of query and key, and d their difference:
  //   d: 2 g_0 d + g_2 m + g_3 s + g_4 m x s,   m: g_1 s + g_2 d + g_4 s x d,   s: g_1 m + g_3 d + g_4 d x m
  template <class Memory>
  GEOSFT_DEVICE void collect_angles(const Memory& memory, const Pair& pair, T to_mul, T to_add, RowSums& row) const {
    constexpr bool kOfQuery = kRowKind == RowKind::kQuery;
    const Geometry at = geometry(memory, pair);
    T g[kMaxChannels];
    GEOSFT_UNROLL
    for (int ch = 0; ch < kMaxChannels; ++ch) g[ch] = to_mul * mul_[ch] + to_add * add_[ch];
    if (x_grad()) {
      GEOSFT_UNROLL
      for (int a = 0; a < 3; ++a) {
        const T part = T(2) * g[0] * at.apart.v[a] + g[2] * at.query_m.v[a] + g[3] * at.key_m.v[a];
        row.x[a] += kOfQuery ? -part : part;
      }
      if (triple_) add_multiple(kOfQuery ? -g[4] : g[4], cross(at.query_m, at.key_m), row.x);
    }
    if (!m_grad()) return;
    add_multiple(g[1], kOfQuery ? at.key_m : at.query_m, row.m);
    add_multiple(kOfQuery ? g[2] : g[3], at.apart, row.m);
    if (triple_) add_multiple(g[4], kOfQuery ? cross(at.key_m, at.apart) : cross(at.apart, at.query_m), row.m);
  }

  GEOSFT_DEVICE static T dot(const Vec4<T>& a, const Vec4<T>& b) {
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
  }
  GEOSFT_DEVICE static Vec4<T> cross(const Vec4<T>& a, const Vec4<T>& b) {
    return {{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2], a.v[0] * b.v[1] - a.v[1] * b.v[0],
             T(0)}};
  }
  GEOSFT_DEVICE static void add_multiple(T factor, const Vec4<T>& v, T (&sum)[3]) {
    GEOSFT_UNROLL
    for (int a = 0; a < 3; ++a) sum[a] += factor * v.v[a];
  }

  GEOSFT_DEVICE T apply(const T (&weights)[kMaxChannels + 1], const Channels& channels) const {
    T sum = channels.v[1] * weights[1] + weights[kMaxChannels];
    GEOSFT_UNROLL
    for (int ch = 2; ch < kMaxChannels; ++ch) sum += channels.v[ch] * weights[ch];
    return channels.v[0] * weights[0] + sum;
  }

  const PointArrays<T>& in_;
  int64_t heads_, head_;
  bool normals_, triple_;
  T mul_[kMaxChannels + 1], add_[kMaxChannels + 1];
};

template <typename T, RowKind kRowKind>
using PointBias = PointBiasOf<T, kRowKind, false>;
template <typename T, RowKind kRowKind>
using PointAngleBias = PointBiasOf<T, kRowKind, true>;

struct PointBiasTraits : BiasTypes<PointArrays, PointBias, true> {
  using Paper = BiasTypes<PointArrays, PointBias, true>;
  using Angles = BiasTypes<PointArrays, PointAngleBias, true>;

  template <class, typename T, class Body>
  static void choose(const PointArrays<T>& arrays, const Body& body) {
    if (arrays.channels > 2) return body(Angles());
    body(Paper());
  }
};

#if !defined(__CUDACC__)
// Provides the attention bias of point_attention from tensors: coordinates, normals and weights.
class PointOperator : public BiasOperator<PointInputs, PointBiasTraits> {
 public:
  PointOperator(const Inputs& in, const AttentionArguments& arguments)
      : x_(contiguous(in.x())),
        xs_(contiguous(in.xs())),
        m_(contiguous(in.m())),
        ms_(contiguous(in.ms())),
        weights_(in),
        computed_(arguments.computed()) {}

  template <typename T>
  PointArrays<T> arrays() const {
    PointArrays<T> arrays{};
    arrays.x = stored<T>(x_);
    arrays.xs = stored<T>(xs_);
    arrays.m = stored<T>(m_);
    arrays.ms = stored<T>(ms_);
    arrays.weights = weights_.arrays<T>();
    arrays.channels = channels();
    return arrays;
  }

  // Row gradients are accumulated per head, weight gradients per query tile; those of blocks without rows stay zero.
  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, const OutputMask& output_mask, PointArrays<T>& arrays) {
    const auto rows = [&](const at::Tensor& points, bool needed) -> T* {
      if (!points.defined()) return nullptr;
      rows_.push_back(at::empty({needed ? points.size(0) : 0, problem.heads, 3}, computed_));
      return needed ? target<T>(rows_.back()) : nullptr;
    };
    arrays.x_grad = rows(x_, output_mask.bias_input(0));
    arrays.xs_grad = rows(xs_, output_mask.bias_input(1));
    arrays.m_grad = rows(m_, output_mask.bias_input(2));
    arrays.ms_grad = rows(ms_, output_mask.bias_input(3));
    const int64_t kept =
        channels() > 2 ? PointAngleBias<T, RowKind::kQuery>::kMaxChannels : PointBias<T, RowKind::kQuery>::kMaxChannels;
    weight_grad_ = at::zeros({gradient_blocks<PointBiasTraits>(problem), problem.heads, 2, kept + 1}, computed_);
    arrays.weight_grad = target<T>(weight_grad_);
  }

  std::vector<at::Tensor> gradients() const {
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& copies : rows_) gradients.push_back(copies.sum(1));
    const at::Tensor weights = weight_grad_.sum(0);  // [heads, 2, channels of the kernel and the bias]
    for (int64_t which = 0; which < 2; ++which) {
      gradients.push_back(weights.select(1, which).slice(1, 0, channels()).t().contiguous());
      gradients.push_back(weights.select(1, which).select(1, -1).contiguous());
    }
    return gradients;
  }

 private:
  int64_t channels() const { return weights_.w_mul.size(0); }

  at::Tensor x_, xs_, m_, ms_;
  WeightArguments weights_;
  at::TensorOptions computed_;
  std::vector<at::Tensor> rows_;
  at::Tensor weight_grad_;
};
#endif

}  // namespace geosft::cuda
