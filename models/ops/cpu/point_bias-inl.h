// SPDX-License-Identifier: Apache-2.0
// Computes the attention bias of point_attention: X_R[i, j] = (|x_i - xs_j|^2, m_i . ms_j), from the coordinates, tile
// by tile (SFT section 4.4).
#if defined(GEOSFT_POINT_TERM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_POINT_TERM_INL_H_
#undef GEOSFT_POINT_TERM_INL_H_
#else
#define GEOSFT_POINT_TERM_INL_H_
#endif

#include "models/ops/cpu/attention_bias.h"
#include "models/ops/cpu/gradient_tiles-inl.h"
#include "models/ops/cpu/row_sums-inl.h"
#include "models/ops/cpu/score_tile-inl.h"
#include "models/ops/cpu/softplus-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

// Channels is 1, or 2 with normals.
template <typename T, int Channels>
class PointBias {
 public:
  using Input = PointInput<T>;
  using Output = PointOutput<T>;

  PointBias(const Input& input, int64_t heads)
      : in_(input),
        heads_(heads),
        rows_of_(kRows),
        wide_(input.x.computed() ? 0 : 3 * kQueryBlock),
        wide_xs_(input.x.computed() ? 0 : 3 * kKeyTile),
        wide_ms_(input.x.computed() ? 0 : 3 * kKeyTile),
        channels_(Channels * kTile),
        mul_(kTile),
        add_(kTile) {}
  PointBias(const Input& input, const Output& output, int64_t heads) : PointBias(input, heads) {
    to_ = &output;
    tracked_ = output.x.defined() || output.xs.defined() || output.m.defined() || output.ms.defined();
    slope_ = Scratch<T>(kTile);
    row_gradient_ = Scratch<T>(kRows);
    channel_gradient_ = Scratch<T>(Channels * kTile);
  }

  void begin_unit(const AttentionUnit& unit) {
    unit_ = unit;
    if (!to_) return;
    const Block keys{unit.k_begin, unit.k_end - unit.k_begin, 0, 3};
    xs_sums_.begin(keys, to_->xs, slot());
    ms_sums_.begin(keys, to_->ms, slot());
  }
  void end_unit() {
    xs_sums_.end(to_->xs);
    ms_sums_.end(to_->ms);
  }

  void begin_block(int64_t first_query, int64_t rows) {
    first_query_ = first_query;
    rows_ = rows;
    padded_ = padded_rows<T>(rows);
    const Block block{first_query, rows, 0, 3};
    pack_block(in_.x, block, padded_, wide_.get(), rows_of_.get());
    if (Channels == 2) pack_block(in_.m, block, padded_, wide_.get(), rows_of_.get() + 3 * kQueryBlock);
    if (to_) std::fill_n(row_gradient_.get(), kRows, T(0));
  }

  void begin_tile(int64_t first_key, int64_t keys) {
    first_key_ = first_key;
    keys_ = keys;
    xs_ = read_block(in_.xs, {first_key, keys, 0, 3}, wide_xs_.get()).data;
    if (Channels == 2) ms_ = read_block(in_.ms, {first_key, keys, 0, 3}, wide_ms_.get()).data;
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
        if constexpr (Channels == 2) {
          const T* ms = ms_ + j * 3;
          Vector<T> product = hn::Zero(d);
          for (int a = 0; a < 3; ++a) product = hn::MulAdd(row(3 + a, i), hn::Set(d, ms[a]), product);
          hn::Store(product, d, channel(1, j) + i);
        }
      }
    }
    if (!tracked_) return;
    for (int ch = 0; ch < Channels; ++ch) std::fill_n(channel_gradient_.get() + ch * kTile, keys * kQueryBlock, T(0));
  }

  BiasTile<T> fill(int64_t head) {
    const Linear mul = linear(in_.weights.w_mul, in_.weights.b_mul, head);
    const Linear add = linear(in_.weights.w_add, in_.weights.b_add, head);
    softplus_of_tile(keys_, padded_,
                     SoftplusTile<T, Affine>{{this, mul, add, add_.get()}, mul_.get(), to_ ? slope_.get() : nullptr});
    return {mul_.get(), add_.get()};
  }

  void backward(int64_t head, T* add_grad, T* raw) {
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
    T* mul_to = to_->weights.mul(unit_.part, Channels, heads_);
    T* add_to = to_->weights.add(unit_.part, Channels, heads_);
    for (int ch = 0; ch <= Channels; ++ch) {
      mul_to[ch * heads_ + head] += lane_sum<T>(to_mul[ch]);
      add_to[ch * heads_ + head] += lane_sum<T>(to_add[ch]);
    }
  }

  void end_tile() {
    if (!tracked_) return;
    T* const xs_to = xs_sums_.at(first_key_, 0);
    T* const ms_to = ms_sums_.at(first_key_, 0);
    for (int64_t j = 0; j < keys_; ++j) {
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t at = j * 3 + axis;
        back_through_distance(j, axis, xs_to ? xs_to + at : nullptr);
        if constexpr (Channels == 2) back_through_product(j, axis, ms_to ? ms_to + at : nullptr);
      }
    }
  }

  void end_block() {
    const Block block{first_query_, rows_, 0, 3};
    if (to_->x.defined()) unpack_block(row_gradient_.get(), to_->x.rows(unit_.split), block, wide_.get());
    if (to_->m.defined()) {
      unpack_block(row_gradient_.get() + 3 * kQueryBlock, to_->m.rows(unit_.split), block, wide_.get());
    }
  }

 private:
  static constexpr int64_t kTile = kKeyTile * kQueryBlock;
  static constexpr int64_t kRows = int64_t{3} * Channels * kQueryBlock;

  struct Linear {
    T w[Channels];
    T b;
  };

  // Returns X_R w + b, the argument of the softplus. It also stores the other linear map of the same numbers, which are
  // in registers at this point, in add_to.
  struct Affine {
    const PointBias* term;
    Linear mul, add;
    T* add_to;
    HWY_INLINE Vector<T> operator()(int64_t j, int64_t i) const {
      hn::Store(term->apply(add, j, i), Tag<T>(), add_to + j * kQueryBlock + i);
      return term->apply(mul, j, i);
    }
  };

  static int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Tag<T>())); }
  int64_t slot() const { return unit_.split * to_->groups + unit_.group; }
  T* channel(int ch, int64_t j) const { return channels_.get() + ch * kTile + j * kQueryBlock; }
  HWY_INLINE Vector<T> row(int axis, int64_t i) const {
    return hn::Load(Tag<T>(), rows_of_.get() + axis * kQueryBlock + i);
  }
  HWY_INLINE void add_to_row(int axis, int64_t i, Vector<T> part) const {
    const Tag<T> d;
    T* at = row_gradient_.get() + axis * kQueryBlock + i;
    hn::Store(hn::Add(hn::Load(d, at), part), d, at);
  }

  // The derivative of |x - xs|^2 by x is 2 (x - xs), and by xs its negative.
  void back_through_distance(int64_t j, int axis, T* key_to) const {
    const Tag<T> d;
    const bool rows_wanted = to_->x.defined();
    const Vector<T> xs = hn::Set(d, xs_[j * 3 + axis]);
    Vector<T> key = hn::Zero(d);
    for (int64_t i = 0; i < padded_; i += lanes()) {
      const Vector<T> g = hn::Load(d, channel_gradient_.get() + j * kQueryBlock + i);
      const Vector<T> part = hn::Mul(hn::Add(g, g), hn::Sub(row(axis, i), xs));
      key = hn::Sub(key, part);
      if (rows_wanted) add_to_row(axis, i, part);
    }
    if (key_to) *key_to += lane_sum<T>(key);
  }

  void back_through_product(int64_t j, int axis, T* key_to) const {
    const Tag<T> d;
    const bool rows_wanted = to_->m.defined();
    const Vector<T> ms = hn::Set(d, ms_[j * 3 + axis]);
    Vector<T> key = hn::Zero(d);
    for (int64_t i = 0; i < padded_; i += lanes()) {
      const Vector<T> g = hn::Load(d, channel_gradient_.get() + kTile + j * kQueryBlock + i);
      key = hn::MulAdd(g, row(3 + axis, i), key);
      if (rows_wanted) add_to_row(3 + axis, i, hn::Mul(g, ms));
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

  const Input& in_;
  const Output* to_ = nullptr;
  bool tracked_ = false;  // a gradient of coordinates or normals is requested
  int64_t heads_;
  Scratch<T> rows_of_, wide_, wide_xs_, wide_ms_, channels_, mul_, add_;
  Scratch<T> slope_{0}, row_gradient_{0}, channel_gradient_{0};
  RowSums<T> xs_sums_, ms_sums_;
  const T* xs_ = nullptr;  // of the tile's keys, 3 each
  const T* ms_ = nullptr;
  AttentionUnit unit_{};
  int64_t first_query_ = 0, rows_ = 0, padded_ = 0, first_key_ = 0, keys_ = 0;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
