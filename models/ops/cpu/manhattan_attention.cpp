// SPDX-License-Identifier: Apache-2.0
// Computes manhattan_attention on the CPU. Its attention bias is computed from X_R[i, j] = (|x_i - xs_j|_1, m_i . ms_j),
// from the coordinates, tile by tile (SFT section 4.4).
#include "models/ops/manhattan_attention.h"

#include "models/ops/cpu/attention_host.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/manhattan_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_driver-inl.h"

#ifndef GEOSFT_MANHATTAN_ATTENTION_ONCE
#define GEOSFT_MANHATTAN_ATTENTION_ONCE
namespace geosft {
namespace {

// Coordinates [N, 3] of queries and keys, normals or null. Query gradients have one copy per range of heads (split),
// key gradients one per split and group of queries.
template <typename T>
struct ManhattanArrays {
  RowAccessor<const T> x, xs, m, ms;
  RelativeWeights<T> weights;
  RowGradient<T> x_grad, xs_grad, m_grad, ms_grad;
  WeightGradients<T> weight_grad;
  int64_t groups = 0;
};

struct ManhattanAttention {
  using Inputs = ManhattanInputs;
  ManhattanAttention(const Inputs& in, const AttentionArguments&)
      : x(contiguous(in.x())), xs(contiguous(in.xs())), m(contiguous(in.m())), ms(contiguous(in.ms())), weights(in) {}

  template <typename T>
  ManhattanArrays<T> arrays(const AttentionProblem<T>&) const {
    ManhattanArrays<T> arrays;
    arrays.x = stored_rows<T>(x, 3);
    arrays.xs = stored_rows<T>(xs, 3);
    arrays.m = stored_rows<T>(m, 3);
    arrays.ms = stored_rows<T>(ms, 3);
    arrays.weights = weights.pointers<T>();
    return arrays;
  }

  template <typename T>
  void begin_gradients(const AttentionProblem<T>& problem, const BackwardPlan& plan, const OutputMask& output_mask,
                       ManhattanArrays<T>& arrays) const {
    const int64_t both = plan.splits * plan.groups;
    arrays.x_grad = row_gradient<T>(output_mask.own(0), x, plan.splits);
    arrays.xs_grad = row_gradient<T>(output_mask.own(1), xs, both);
    arrays.m_grad = row_gradient<T>(output_mask.own(2), m, plan.splits);
    arrays.ms_grad = row_gradient<T>(output_mask.own(3), ms, both);
    arrays.weight_grad = WeightGradients<T>(plan, channels(), problem.heads);
    arrays.groups = plan.groups;
  }
  template <typename T>
  std::vector<at::Tensor> gradients(ManhattanArrays<T>& arrays) const {
    std::vector<at::Tensor> gradients{arrays.x_grad.finish(), arrays.xs_grad.finish()};
    if (m.defined()) gradients.insert(gradients.end(), {arrays.m_grad.finish(), arrays.ms_grad.finish()});
    for (at::Tensor& gradient : arrays.weight_grad.finish()) gradients.push_back(std::move(gradient));
    return gradients;
  }
  SharedWidths widths(int64_t heads, const OutputMask& output_mask) const {
    return {int64_t{3} * (output_mask.own(0) + output_mask.own(2)),
            int64_t{3} * (output_mask.own(1) + output_mask.own(3)), WeightGradients<float>::width(channels(), heads)};
  }
  int64_t channels() const { return m.defined() ? 2 : 1; }

  at::Tensor x, xs, m, ms;
  WeightArguments weights;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

// Channels is 1, or 2 with normals.
template <typename T, int Channels>
class ManhattanBias {
 public:
  using Arrays = ManhattanArrays<T>;

  ManhattanBias(const Arrays& arrays, int64_t heads, bool backward)
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

  void begin_unit(const AttentionUnit& unit) {
    unit_ = unit;
    if (!to_) return;
    const Block keys{unit.k_begin, unit.k_end - unit.k_begin, 0, 3};
    xs_sums_.begin(keys, to_->xs_grad, slot());
    ms_sums_.begin(keys, to_->ms_grad, slot());
  }
  void end_unit() {
    xs_sums_.end(to_->xs_grad);
    ms_sums_.end(to_->ms_grad);
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
          distance = hn::Add(distance, hn::Abs(apart));
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
    T* mul_to = to_->weight_grad.mul(unit_.part, Channels, heads_);
    T* add_to = to_->weight_grad.add(unit_.part, Channels, heads_);
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
    if (to_->x_grad.defined()) unpack_block(row_gradient_.get(), to_->x_grad.rows(unit_.split), block, wide_.get());
    if (to_->m_grad.defined()) {
      unpack_block(row_gradient_.get() + 3 * kQueryBlock, to_->m_grad.rows(unit_.split), block, wide_.get());
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
    const ManhattanBias* term;
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
    const bool rows_wanted = to_->x_grad.defined();
    const Vector<T> xs = hn::Set(d, xs_[j * 3 + axis]);
    Vector<T> key = hn::Zero(d);
    for (int64_t i = 0; i < padded_; i += lanes()) {
      const Vector<T> g = hn::Load(d, channel_gradient_.get() + j * kQueryBlock + i);
      const Vector<T> apart = hn::Sub(row(axis, i), xs);
      const Vector<T> part = hn::IfThenZeroElse(hn::Eq(apart, hn::Zero(d)), hn::Mul(g, hn::CopySign(hn::Set(d, T(1)), apart)));
      key = hn::Sub(key, part);
      if (rows_wanted) add_to_row(axis, i, part);
    }
    if (key_to) *key_to += lane_sum<T>(key);
  }

  void back_through_product(int64_t j, int axis, T* key_to) const {
    const Tag<T> d;
    const bool rows_wanted = to_->m_grad.defined();
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

template <typename T, class F>
void with_bias(const ManhattanArrays<T>& arrays, const F& f) {
  if (arrays.m) return f(TypeOf<ManhattanBias<T, 2>>());
  f(TypeOf<ManhattanBias<T, 1>>());
}

GEOSFT_ATTENTION_KERNELS(ManhattanArrays)

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_REGISTER_ATTENTION(ManhattanAttention)
#endif
