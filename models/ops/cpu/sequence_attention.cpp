// SPDX-License-Identifier: Apache-2.0
// Computes sequence_attention on the CPU. X_R[i, j, t] = s[i, t] ss[j, t], so X_R w is a matrix product of s with w ss
// per head (SFT section 4.4), and so are its gradients.
#include "models/ops/sequence_attention.h"

#include "models/ops/cpu/attention_arguments.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/sequence_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/gradient_tiles-inl.h"
#include "models/ops/cpu/row_accessor-inl.h"
#include "models/ops/cpu/score_tile-inl.h"
#include "models/ops/cpu/softplus-inl.h"

#ifndef GEOSFT_SEQUENCE_ATTENTION_ONCE
#define GEOSFT_SEQUENCE_ATTENTION_ONCE
namespace geosft {
namespace {

// Position encodings s [Nq, depth] of queries and ss [Nk, depth] of keys; gradients as for points.
template <typename T>
struct SequenceArrays {
  RowAccessor<const T> s, ss;
  int64_t depth = 0;
  RelativeWeights<T> weights;
  RowGradient<T> s_grad, ss_grad;
  WeightGradients<T> weight_grad;
  int64_t groups = 0;
};

struct SequenceAttention {
  using Inputs = SequenceInputs;
  SequenceAttention(const Inputs& in, const AttentionArguments&)
      : s(contiguous(in.s())), ss(contiguous(in.ss())), weights(in) {}

  template <typename T>
  SequenceArrays<T> arrays(const AttentionProblem<T>&) const {
    SequenceArrays<T> arrays;
    arrays.s = stored_rows<T>(s, s.size(1));
    arrays.ss = stored_rows<T>(ss, s.size(1));
    arrays.depth = s.size(1);
    arrays.weights = weights.pointers<T>();
    return arrays;
  }

  template <typename T>
  void begin_gradients(const AttentionProblem<T>& problem, const BackwardPlan& plan, const OutputMask& output_mask,
                       SequenceArrays<T>& arrays) const {
    arrays.s_grad = row_gradient<T>(output_mask.bias_input(0), s, plan.splits);
    arrays.ss_grad = row_gradient<T>(output_mask.bias_input(1), ss, plan.splits * plan.groups);
    arrays.weight_grad = WeightGradients<T>(plan, s.size(1), problem.heads);
    arrays.groups = plan.groups;
  }
  template <typename T>
  std::vector<at::Tensor> gradients(SequenceArrays<T>& arrays) const {
    return bias_gradients({arrays.s_grad.finish(), arrays.ss_grad.finish()}, arrays.weight_grad);
  }
  SharedWidths widths(int64_t heads, const OutputMask& output_mask) const {
    const int64_t depth = s.size(1);
    return {output_mask.bias_input(0) ? depth : 0, output_mask.bias_input(1) ? depth : 0,
            WeightGradients<float>::width(depth, heads)};
  }

  at::Tensor s, ss;
  WeightArguments weights;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

template <typename T>
struct PlusBias {
  Vector<T> bias;
  HWY_INLINE Vector<T> operator()(Vector<T> v, const T* /*at*/) const { return hn::Add(v, bias); }
};

// to[j][i] = bias + sum_t s[t][i] keys[j][t].
template <typename T>
struct AffineTile {
  const T* HWY_RESTRICT s;
  const T* HWY_RESTRICT keys;
  int64_t depth;
  T bias;
  T* HWY_RESTRICT to;

  template <int J, int I>
  HWY_INLINE void run(int64_t j0, int64_t i0) const {
    Vector<T> sum[J][I];
    product<J, I>(s + i0, keys + j0 * depth, depth, depth, MulPlus(), sum);
    store_tile<kQueryBlock>(sum, to + j0 * kQueryBlock + i0, PlusBias<T>{hn::Set(Tag<T>(), bias)});
  }
};

template <typename T>
class SequenceBias final : public AttentionBias<T> {
 public:
  using Arrays = SequenceArrays<T>;

  SequenceBias(const Arrays& arrays, int64_t heads, bool backward)
      : in_(arrays),
        to_(backward ? &arrays : nullptr),
        heads_(heads),
        rows_of_(arrays.depth * kQueryBlock),
        wide_(arrays.s.computed() ? 0 : arrays.depth * kQueryBlock),
        wide_keys_(arrays.s.computed() ? 0 : arrays.depth * kKeyTile),
        mul_keys_(kKeyTile * arrays.depth),
        add_keys_(kKeyTile * arrays.depth),
        mul_(kTile),
        add_(kTile),
        slope_(backward ? kTile : 0),
        row_gradient_(backward ? arrays.depth * kQueryBlock : 0),
        key_products_(backward ? kKeyTile * arrays.depth : 0) {}

  void begin_unit(const AttentionUnit& unit) override {
    unit_ = unit;
    if (to_) ss_sums_.begin({unit.k_begin, unit.k_end - unit.k_begin, 0, in_.depth}, to_->ss_grad, partial());
  }
  void end_unit() override { ss_sums_.end(to_->ss_grad); }

  void begin_block(int64_t first_query, int64_t rows) override {
    first_query_ = first_query;
    rows_ = rows;
    padded_ = padded_rows<T>(rows);
    pack_block(in_.s, {first_query, rows, 0, in_.depth}, padded_, wide_.get(), rows_of_.get());
    if (rows_need_grad()) std::fill_n(row_gradient_.get(), in_.depth * kQueryBlock, T(0));
  }

  void begin_tile(int64_t first_key, int64_t keys) override {
    first_key_ = first_key;
    keys_ = keys;
    ss_ = read_block(in_.ss, {first_key, keys, 0, in_.depth}, wide_keys_.get()).data;
  }

  BiasTile<T> fill(int64_t head) override {
    affine(in_.weights.w_mul, in_.weights.b_mul[head], head, mul_keys_.get(), mul_.get());
    affine(in_.weights.w_add, in_.weights.b_add[head], head, add_keys_.get(), add_.get());
    softplus_of_tile(keys_, padded_,
                     SoftplusTile<T, StoredTile<T>>{{mul_.get()}, mul_.get(), to_ ? slope_.get() : nullptr});
    return {mul_.get(), add_.get()};
  }

  void backward(int64_t head, T* add_grad, T* raw) override {
    const Tag<T> d;
    Vector<T> mul_bias = hn::Zero(d), add_bias = hn::Zero(d);
    for (int64_t j = 0; j < keys_; ++j) {
      for (int64_t i = j * kQueryBlock; i < j * kQueryBlock + padded_; i += lanes()) {
        const Vector<T> a = hn::Load(d, add_grad + i);
        const Vector<T> m = hn::Mul(hn::Mul(a, hn::Load(d, raw + i)), hn::Load(d, slope_.get() + i));
        hn::Store(m, d, raw + i);
        mul_bias = hn::Add(mul_bias, m);
        add_bias = hn::Add(add_bias, a);
      }
    }
    T* mul_to = to_->weight_grad.mul(unit_.part, in_.depth, heads_) + head;
    T* add_to = to_->weight_grad.add(unit_.part, in_.depth, heads_) + head;
    mul_to[in_.depth * heads_] += lane_sum<T>(mul_bias);
    add_to[in_.depth * heads_] += lane_sum<T>(add_bias);
    back_through(raw, in_.weights.w_mul + head, mul_keys_.get(), mul_to);
    back_through(add_grad, in_.weights.w_add + head, add_keys_.get(), add_to);
  }

  void end_block() override {
    if (!rows_need_grad()) return;
    unpack_block(row_gradient_.get(), to_->s_grad.rows(unit_.split), {first_query_, rows_, 0, in_.depth}, wide_.get());
  }

 private:
  static constexpr int64_t kTile = kKeyTile * kQueryBlock;
  static int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Tag<T>())); }
  int64_t partial() const { return unit_.split * to_->groups + unit_.group; }
  bool rows_need_grad() const { return to_ && to_->s_grad.defined(); }

  void affine(const T* w, T bias, int64_t head, T* keys, T* to) const {
    for (int64_t j = 0; j < keys_; ++j) {
      for (int64_t t = 0; t < in_.depth; ++t) keys[j * in_.depth + t] = ss_[j * in_.depth + t] * w[t * heads_ + head];
    }
    for_tiles(keys_, padded_ / lanes(), lanes(), AffineTile<T>{rows_of_.get(), keys, in_.depth, bias, to});
  }

  // Propagates the gradient of a tile of X_R w + b to s, ss and w (w and w_grad have a stride of `heads`).
  void back_through(const T* gradient, const T* w, const T* keys, T* w_grad) const {
    if (rows_need_grad()) {
      for_tiles(in_.depth, padded_ / lanes(), lanes(),
                WeightedValues<T>{gradient, keys, in_.depth, keys_, row_gradient_.get()});
    }
    T* products = key_products_.get();
    std::fill_n(products, keys_ * in_.depth, T(0));
    for_column_tiles(keys_, in_.depth, ValueGradient<T>{rows_of_.get(), gradient, padded_, products, in_.depth});
    T* const ss_grad = ss_sums_.at(first_key_, 0);
    for (int64_t j = 0; j < keys_; ++j) {
      for (int64_t t = 0; t < in_.depth; ++t) {
        const int64_t at = j * in_.depth + t;
        if (ss_grad) ss_grad[at] += products[at] * w[t * heads_];
        w_grad[t * heads_] += products[at] * ss_[at];
      }
    }
  }

  const Arrays& in_;
  const Arrays* to_;  // null in the forward pass
  int64_t heads_;
  Scratch<T> rows_of_, wide_, wide_keys_, mul_keys_, add_keys_, mul_, add_;
  Scratch<T> slope_, row_gradient_, key_products_;
  RowSums<T> ss_sums_;
  const T* ss_ = nullptr;  // of the tile's keys
  AttentionUnit unit_{};
  int64_t first_query_ = 0, rows_ = 0, padded_ = 0, first_key_ = 0, keys_ = 0;
};

GEOSFT_ATTENTION_BIAS(SequenceArrays, SequenceBias)

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_REGISTER_ATTENTION(SequenceAttention)
#endif
