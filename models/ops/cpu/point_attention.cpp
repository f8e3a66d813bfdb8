// SPDX-License-Identifier: Apache-2.0
// Computes point_attention on the CPU. Its attention bias is computed from the channels of X_R (squared distances,
// products of normals and angles), from the coordinates and normals, tile by tile (SFT section 4.4).
#include "models/ops/point_attention.h"

#include "models/ops/cpu/attention_arguments.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/point_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/row_accessor-inl.h"
#include "models/ops/cpu/softplus-inl.h"

#ifndef GEOSFT_POINT_ATTENTION_ONCE
#define GEOSFT_POINT_ATTENTION_ONCE
namespace geosft {
namespace {

// Coordinates [N, 3] of queries and keys, normals or null. Query gradients have one copy per range of heads (split),
// key gradients one per split and group of queries.
template <typename T>
struct PointArrays {
  RowAccessor<const T> x, xs, m, ms;
  RelativeWeights<T> weights;
  int64_t channels = 1;
  RowGradient<T> x_grad, xs_grad, m_grad, ms_grad;
  WeightGradients<T> weight_grad;
  int64_t groups = 0;
};

struct PointAttention {
  using Inputs = PointInputs;
  PointAttention(const Inputs& in, const AttentionArguments&)
      : x(contiguous(in.x())), xs(contiguous(in.xs())), m(contiguous(in.m())), ms(contiguous(in.ms())), weights(in) {}

  template <typename T>
  PointArrays<T> arrays(const AttentionProblem<T>&) const {
    PointArrays<T> arrays;
    arrays.x = stored_rows<T>(x, 3);
    arrays.xs = stored_rows<T>(xs, 3);
    arrays.m = stored_rows<T>(m, 3);
    arrays.ms = stored_rows<T>(ms, 3);
    arrays.weights = weights.pointers<T>();
    arrays.channels = channels();
    return arrays;
  }

  template <typename T>
  void begin_gradients(const AttentionProblem<T>& problem, const BackwardPlan& plan, const OutputMask& output_mask,
                       PointArrays<T>& arrays) const {
    const int64_t both = plan.splits * plan.groups;
    arrays.x_grad = row_gradient<T>(output_mask.bias_input(0), x, plan.splits);
    arrays.xs_grad = row_gradient<T>(output_mask.bias_input(1), xs, both);
    arrays.m_grad = row_gradient<T>(output_mask.bias_input(2), m, plan.splits);
    arrays.ms_grad = row_gradient<T>(output_mask.bias_input(3), ms, both);
    arrays.weight_grad = WeightGradients<T>(plan, channels(), problem.heads);
    arrays.groups = plan.groups;
  }
  template <typename T>
  std::vector<at::Tensor> gradients(PointArrays<T>& arrays) const {
    std::vector<at::Tensor> gradients{arrays.x_grad.finish(), arrays.xs_grad.finish()};
    if (m.defined()) gradients.insert(gradients.end(), {arrays.m_grad.finish(), arrays.ms_grad.finish()});
    return bias_gradients(std::move(gradients), arrays.weight_grad);
  }
  SharedWidths widths(int64_t heads, const OutputMask& output_mask) const {
    return {int64_t{3} * (output_mask.bias_input(0) + output_mask.bias_input(2)),
            int64_t{3} * (output_mask.bias_input(1) + output_mask.bias_input(3)),
            WeightGradients<float>::width(channels(), heads)};
  }
  int64_t channels() const { return weights.w_mul.size(0); }

  at::Tensor x, xs, m, ms;
  WeightArguments weights;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

// Channels is 1, or with normals 2, 4 or 5. With d = xs_j - x_i, these are |d|^2, m_i . ms_j, m_i . d, ms_j . d and
// (m_i x ms_j) . d. The numbers of channels are compiled apart.
template <typename T, int Channels>
class PointBias final : public AttentionBias<T> {
 public:
  using Arrays = PointArrays<T>;

  PointBias(const Arrays& arrays, int64_t heads, bool backward)
      : in_(arrays),
        to_(backward ? &arrays : nullptr),
        tracked_(arrays.x_grad.defined() || arrays.xs_grad.defined() || arrays.m_grad.defined() ||
                 arrays.ms_grad.defined()),
        heads_(heads),
        rows_of_(kRows),
        wide_(arrays.x.computed() ? 0 : 3 * kQueryBlock),
        wide_xs_(arrays.x.computed() ? 0 : 3 * kKeyTile),
        wide_ms_(arrays.x.computed() ? 0 : 3 * kKeyTile),
        channels_(Channels * kTile),
        mul_(kTile),
        add_(kTile),
        slope_(backward ? kTile : 0),
        row_gradient_(backward ? kRows : 0),
        channel_gradient_(backward ? Channels * kTile : 0) {}

  void begin_unit(const AttentionUnit& unit) override {
    unit_ = unit;
    if (!to_) return;
    const Block keys{unit.k_begin, unit.k_end - unit.k_begin, 0, 3};
    xs_sums_.begin(keys, to_->xs_grad, partial());
    ms_sums_.begin(keys, to_->ms_grad, partial());
  }
  void end_unit() override {
    xs_sums_.end(to_->xs_grad);
    ms_sums_.end(to_->ms_grad);
  }

  void begin_block(int64_t first_query, int64_t rows) override {
    first_query_ = first_query;
    rows_ = rows;
    padded_ = padded_rows<T>(rows);
    const Block block{first_query, rows, 0, 3};
    pack_block(in_.x, block, padded_, wide_.get(), rows_of_.get());
    if (kNormals) pack_block(in_.m, block, padded_, wide_.get(), rows_of_.get() + 3 * kQueryBlock);
    if (to_) std::fill_n(row_gradient_.get(), kRows, T(0));
  }

  void begin_tile(int64_t first_key, int64_t keys) override {
    first_key_ = first_key;
    keys_ = keys;
    xs_ = read_block(in_.xs, {first_key, keys, 0, 3}, wide_xs_.get()).data;
    if (kNormals) ms_ = read_block(in_.ms, {first_key, keys, 0, 3}, wide_ms_.get()).data;
    const Tag<T> d;
    for (int64_t j = 0; j < keys; ++j) {
      const T* xs = xs_ + j * 3;
      for (int64_t i = 0; i < padded_; i += lanes()) {
        Vector<T> distance = hn::Zero(d);
        for (int a = 0; a < 3; ++a) {
          const Vector<T> apart = hn::Sub(row(a, i), hn::Set(d, xs[a]));
          distance = hn::MulAdd(apart, apart, distance);
        }
        hn::Store(distance, d, channel(0, j) + i);
        if constexpr (kNormals) {
          const T* ms = ms_ + j * 3;
          Vector<T> product = hn::Zero(d);
          for (int a = 0; a < 3; ++a) product = hn::MulAdd(row(3 + a, i), hn::Set(d, ms[a]), product);
          hn::Store(product, d, channel(1, j) + i);
        }
        if constexpr (kAngles) store_angles(j, i);
      }
    }
    if (!tracked_) return;
    for (int ch = 0; ch < Channels; ++ch) std::fill_n(channel_gradient_.get() + ch * kTile, keys * kQueryBlock, T(0));
  }

  BiasTile<T> fill(int64_t head) override {
    const Linear mul = linear(in_.weights.w_mul, in_.weights.b_mul, head);
    const Linear add = linear(in_.weights.w_add, in_.weights.b_add, head);
    softplus_of_tile(keys_, padded_,
                     SoftplusTile<T, Affine>{{this, mul, add, add_.get()}, mul_.get(), to_ ? slope_.get() : nullptr});
    return {mul_.get(), add_.get()};
  }

  void backward(int64_t head, T* add_grad, T* raw) override {
    const Tag<T> d;
    const Linear mul = linear(in_.weights.w_mul, in_.weights.b_mul, head);
    const Linear add = linear(in_.weights.w_add, in_.weights.b_add, head);
    Vector<T> to_mul[Channels + 1], to_add[Channels + 1];
    for (int ch = 0; ch <= Channels; ++ch) to_mul[ch] = to_add[ch] = hn::Zero(d);
    for (int64_t j = 0; j < keys_; ++j) {
      for (int64_t i = 0; i < padded_; i += lanes()) {
        const int64_t at = j * kQueryBlock + i;
        const Vector<T> a = hn::Load(d, add_grad + at);
        const Vector<T> m = hn::Mul(hn::Mul(a, hn::Load(d, raw + at)), hn::Load(d, slope_.get() + at));
        for (int ch = 0; ch < Channels; ++ch) {
          const Vector<T> value = hn::Load(d, channel(ch, j) + i);
          to_mul[ch] = hn::MulAdd(m, value, to_mul[ch]);
          to_add[ch] = hn::MulAdd(a, value, to_add[ch]);
          if (!tracked_) continue;
          T* gradient = channel_gradient_.get() + ch * kTile + at;
          const Vector<T> sum = hn::MulAdd(m, hn::Set(d, mul.w[ch]), hn::Load(d, gradient));
          hn::Store(hn::MulAdd(a, hn::Set(d, add.w[ch]), sum), d, gradient);
        }
        to_mul[Channels] = hn::Add(to_mul[Channels], m);
        to_add[Channels] = hn::Add(to_add[Channels], a);
      }
    }
    T* mul_to = to_->weight_grad.mul(unit_.part, Channels, heads_);
    T* add_to = to_->weight_grad.add(unit_.part, Channels, heads_);
    for (int ch = 0; ch <= Channels; ++ch) {
      mul_to[ch * heads_ + head] += lane_sum<T>(to_mul[ch]);
      add_to[ch * heads_ + head] += lane_sum<T>(to_add[ch]);
    }
  }

  void end_tile() override {
    if (!tracked_) return;
    T* const xs_to = xs_sums_.at(first_key_, 0);
    T* const ms_to = ms_sums_.at(first_key_, 0);
    for (int64_t j = 0; j < keys_; ++j) {
      if constexpr (kAngles) {
        back_through_angles(j, xs_to ? xs_to + j * 3 : nullptr, ms_to ? ms_to + j * 3 : nullptr);
        continue;
      }
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t at = j * 3 + axis;
        back_through_distance(j, axis, xs_to ? xs_to + at : nullptr);
        if constexpr (kNormals) back_through_product(j, axis, ms_to ? ms_to + at : nullptr);
      }
    }
  }

  void end_block() override {
    const Block block{first_query_, rows_, 0, 3};
    if (to_->x_grad.defined()) unpack_block(row_gradient_.get(), to_->x_grad.rows(unit_.split), block, wide_.get());
    if (to_->m_grad.defined()) {
      unpack_block(row_gradient_.get() + 3 * kQueryBlock, to_->m_grad.rows(unit_.split), block, wide_.get());
    }
  }

 private:
  static constexpr int64_t kTile = kKeyTile * kQueryBlock;
  static constexpr bool kNormals = Channels > 1, kAngles = Channels > 2, kTriple = Channels > 4;
  static constexpr int64_t kRows = int64_t{kNormals ? 6 : 3} * kQueryBlock;

  struct Linear {
    T w[Channels];
    T b;
  };

  // Returns X_R w + b, the argument of the softplus. It also stores the other linear map of the same numbers, which are
  // in registers at this point, in add_to.
  struct Affine {
    const PointBias* bias;
    Linear mul, add;
    T* add_to;
    HWY_INLINE Vector<T> operator()(int64_t j, int64_t i) const {
      hn::Store(bias->apply(add, j, i), Tag<T>(), add_to + j * kQueryBlock + i);
      return bias->apply(mul, j, i);
    }
  };

  static int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Tag<T>())); }
  int64_t partial() const { return unit_.split * to_->groups + unit_.group; }
  T* channel(int ch, int64_t j) const { return channels_.get() + ch * kTile + j * kQueryBlock; }
  HWY_INLINE Vector<T> row(int axis, int64_t i) const {
    return hn::Load(Tag<T>(), rows_of_.get() + axis * kQueryBlock + i);
  }
  HWY_INLINE void add_to_row(int axis, int64_t i, Vector<T> part) const {
    const Tag<T> d;
    T* at = row_gradient_.get() + axis * kQueryBlock + i;
    hn::Store(hn::Add(hn::Load(d, at), part), d, at);
  }

  struct Vector3 {
    Vector<T> v[3];
  };

  // The three coordinates of rows of queries (axis 0), or of their normals (axis 3).
  HWY_INLINE Vector3 rows3(int axis, int64_t i) const { return {{row(axis, i), row(axis + 1, i), row(axis + 2, i)}}; }
  static HWY_INLINE Vector3 broadcast(const T* v) {
    const Tag<T> d;
    return {{hn::Set(d, v[0]), hn::Set(d, v[1]), hn::Set(d, v[2])}};
  }
  static HWY_INLINE Vector3 difference(const Vector3& a, const Vector3& b) {
    return {{hn::Sub(a.v[0], b.v[0]), hn::Sub(a.v[1], b.v[1]), hn::Sub(a.v[2], b.v[2])}};
  }
  static HWY_INLINE Vector<T> dot(const Vector3& a, const Vector3& b) {
    return hn::MulAdd(a.v[0], b.v[0], hn::MulAdd(a.v[1], b.v[1], hn::Mul(a.v[2], b.v[2])));
  }
  static HWY_INLINE Vector3 cross(const Vector3& a, const Vector3& b) {
    const auto component = [&](int s, int t) { return hn::NegMulAdd(a.v[t], b.v[s], hn::Mul(a.v[s], b.v[t])); };
    return {{component(1, 2), component(2, 0), component(0, 1)}};
  }
  // Returns sum + factor * a.
  static HWY_INLINE Vector3 add_multiple(Vector<T> factor, const Vector3& a, const Vector3& sum) {
    return {{hn::MulAdd(factor, a.v[0], sum.v[0]), hn::MulAdd(factor, a.v[1], sum.v[1]),
             hn::MulAdd(factor, a.v[2], sum.v[2])}};
  }
  static HWY_INLINE Vector3 multiple(Vector<T> factor, const Vector3& a) {
    return {{hn::Mul(factor, a.v[0]), hn::Mul(factor, a.v[1]), hn::Mul(factor, a.v[2])}};
  }
  static HWY_INLINE void add_sums(const Vector3& sum, T* to) {
    for (int a = 0; a < 3; ++a) to[a] += lane_sum<T>(sum.v[a]);
  }

  // Stores the channels from the third on, for key j and the queries from lane i on.
  HWY_INLINE void store_angles(int64_t j, int64_t i) const {
    const Tag<T> d;
    const Vector3 apart = difference(broadcast(xs_ + j * 3), rows3(0, i));
    const Vector3 normal = rows3(3, i), key_normal = broadcast(ms_ + j * 3);
    hn::Store(dot(normal, apart), d, channel(2, j) + i);
    hn::Store(dot(key_normal, apart), d, channel(3, j) + i);
    if constexpr (kTriple) hn::Store(dot(cross(normal, key_normal), apart), d, channel(4, j) + i);
  }

  // Adds the gradients of all channels of key j. With the gradients g of the channels, m of the query's and s of the
  // key's normal, and d = xs_j - x_i:
  //   d: 2 g_0 d + g_2 m + g_3 s + g_4 m x s,   m: g_1 s + g_2 d + g_4 s x d,   s: g_1 m + g_3 d + g_4 d x m
  void back_through_angles(int64_t j, T* xs_to, T* ms_to) const {
    const Tag<T> d;
    const bool x_needs_grad = to_->x_grad.defined(), m_needs_grad = to_->m_grad.defined();
    const Vector3 xs = broadcast(xs_ + j * 3), key_normal = broadcast(ms_ + j * 3);
    Vector3 xs_sum{{hn::Zero(d), hn::Zero(d), hn::Zero(d)}}, ms_sum = xs_sum;
    for (int64_t i = 0; i < padded_; i += lanes()) {
      Vector<T> g[Channels];
      for (int ch = 0; ch < Channels; ++ch) {
        g[ch] = hn::Load(d, channel_gradient_.get() + ch * kTile + j * kQueryBlock + i);
      }
      const Vector3 apart = difference(xs, rows3(0, i)), normal = rows3(3, i);
      if (xs_to || x_needs_grad) {
        Vector3 part = multiple(hn::Add(g[0], g[0]), apart);
        part = add_multiple(g[3], key_normal, add_multiple(g[2], normal, part));
        if constexpr (kTriple) part = add_multiple(g[4], cross(normal, key_normal), part);
        for (int a = 0; a < 3; ++a) {
          xs_sum.v[a] = hn::Add(xs_sum.v[a], part.v[a]);
          if (x_needs_grad) add_to_row(a, i, hn::Neg(part.v[a]));
        }
      }
      if (m_needs_grad) {
        Vector3 part = add_multiple(g[2], apart, multiple(g[1], key_normal));
        if constexpr (kTriple) part = add_multiple(g[4], cross(key_normal, apart), part);
        for (int a = 0; a < 3; ++a) add_to_row(3 + a, i, part.v[a]);
      }
      if (!ms_to) continue;
      ms_sum = add_multiple(g[3], apart, add_multiple(g[1], normal, ms_sum));
      if constexpr (kTriple) ms_sum = add_multiple(g[4], cross(apart, normal), ms_sum);
    }
    if (xs_to) add_sums(xs_sum, xs_to);
    if (ms_to) add_sums(ms_sum, ms_to);
  }

  // The derivative of |x - xs|^2 by x is 2 (x - xs), and by xs its negative.
  void back_through_distance(int64_t j, int axis, T* key_to) const {
    const Tag<T> d;
    const bool rows_need_grad = to_->x_grad.defined();
    const Vector<T> xs = hn::Set(d, xs_[j * 3 + axis]);
    Vector<T> key = hn::Zero(d);
    for (int64_t i = 0; i < padded_; i += lanes()) {
      const Vector<T> g = hn::Load(d, channel_gradient_.get() + j * kQueryBlock + i);
      const Vector<T> part = hn::Mul(hn::Add(g, g), hn::Sub(row(axis, i), xs));
      key = hn::Sub(key, part);
      if (rows_need_grad) add_to_row(axis, i, part);
    }
    if (key_to) *key_to += lane_sum<T>(key);
  }

  void back_through_product(int64_t j, int axis, T* key_to) const {
    const Tag<T> d;
    const bool rows_need_grad = to_->m_grad.defined();
    const Vector<T> ms = hn::Set(d, ms_[j * 3 + axis]);
    Vector<T> key = hn::Zero(d);
    for (int64_t i = 0; i < padded_; i += lanes()) {
      const Vector<T> g = hn::Load(d, channel_gradient_.get() + kTile + j * kQueryBlock + i);
      key = hn::MulAdd(g, row(3 + axis, i), key);
      if (rows_need_grad) add_to_row(3 + axis, i, hn::Mul(g, ms));
    }
    if (key_to) *key_to += lane_sum<T>(key);
  }

  Linear linear(const T* w, const T* b, int64_t head) const {
    Linear result{};
    for (int ch = 0; ch < Channels; ++ch) result.w[ch] = w[ch * heads_ + head];
    result.b = b[head];
    return result;
  }

  HWY_INLINE Vector<T> apply(const Linear& linear, int64_t j, int64_t i) const {
    const Tag<T> d;
    Vector<T> sum = hn::Set(d, linear.b);
    for (int ch = 0; ch < Channels; ++ch) {
      sum = hn::MulAdd(hn::Load(d, channel(ch, j) + i), hn::Set(d, linear.w[ch]), sum);
    }
    return sum;
  }

  const Arrays& in_;
  const Arrays* to_;  // null in the forward pass
  bool tracked_;      // a gradient of coordinates or normals is requested
  int64_t heads_;
  Scratch<T> rows_of_, wide_, wide_xs_, wide_ms_, channels_, mul_, add_;
  Scratch<T> slope_, row_gradient_, channel_gradient_;
  RowSums<T> xs_sums_, ms_sums_;
  const T* xs_ = nullptr;  // of the tile's keys, 3 each
  const T* ms_ = nullptr;
  AttentionUnit unit_{};
  int64_t first_query_ = 0, rows_ = 0, padded_ = 0, first_key_ = 0, keys_ = 0;
};

template <typename T>
std::unique_ptr<AttentionBias<T>> make_bias_any(const PointArrays<T>& arrays, int64_t heads, bool backward) {
  switch (arrays.channels) {
    case 1:
      return std::make_unique<PointBias<T, 1>>(arrays, heads, backward);
    case 2:
      return std::make_unique<PointBias<T, 2>>(arrays, heads, backward);
    case 4:
      return std::make_unique<PointBias<T, 4>>(arrays, heads, backward);
    default:
      return std::make_unique<PointBias<T, 5>>(arrays, heads, backward);
  }
}

GEOSFT_SIMD_KERNEL(make_bias)

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_REGISTER_ATTENTION(PointAttention)
#endif
