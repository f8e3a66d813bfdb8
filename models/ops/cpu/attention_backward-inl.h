// SPDX-License-Identifier: Apache-2.0
// Computes the gradients of the attention core of attention_forward-inl.h. With the denominator D, the gradient g of
// the output, e = g / D and delta = sum_t e_t out_t:
//   dv_j    = sum_i relu(S_ij) e_i
//   dS_ij   = [S_ij > 0] (e_i . v_j - delta_i)
//   dleak_j = -sigmoid(leak_j) sum_i delta_i
// dS is propagated through mul, add and the maximum, where a tie counts as the query's (SFT section 4.3).
#if defined(GEOSFT_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ATTENTION_BACKWARD_INL_H_
#undef GEOSFT_ATTENTION_BACKWARD_INL_H_
#else
#define GEOSFT_ATTENTION_BACKWARD_INL_H_
#endif

#include <cmath>
#include <limits>

#include "models/ops/cpu/attention_kernels.h"
#include "models/ops/cpu/gradient_tiles-inl.h"
#include "models/ops/cpu/row_accessor-inl.h"
#include "models/ops/cpu/score_tile-inl.h"

GEOSFT_SIMD_BEGIN();
// Results of a backward unit: k and v as laid out for its group; delta_sum [heads] of the unit.
template <typename T>
struct BackwardTargets {
  RowAccessor<T> dq;
  const RowGradient<T>& k;
  const RowGradient<T>& v;
  T* delta_sum;
};

template <typename T>
class BackwardWorker {
 public:
  // `bias` may be null.
  BackwardWorker(const AttentionProblem<T>& problem, std::unique_ptr<AttentionBias<T>> bias,
                 const AttentionGradOutput<T>& grad_output)
      : p_(problem),
        bias_(std::move(bias)),
        grad_(grad_output.grad),
        out_(grad_output.out),
        denominator_(grad_output.denominator),
        scale_(static_cast<T>(1.0 / std::sqrt(static_cast<double>(problem.c)))),
        queries_(problem.heads * problem.c * kQueryBlock),
        lost_(problem.heads * problem.c * kQueryBlock),
        grad_output_(problem.heads * problem.cv * kQueryBlock),
        outputs_(problem.cv * kQueryBlock),
        sums_(kQueryBlock),
        delta_(problem.heads * kQueryBlock),
        dr_sum_(problem.heads * kQueryBlock),
        positive_(kKeyTile * kQueryBlock),
        dr_(kKeyTile * kQueryBlock),
        ds_(bias_ ? kKeyTile * kQueryBlock : 0),
        raw_(bias_ ? kKeyTile * kQueryBlock : 0),
        wide_rows_(problem.q.computed() ? 0 : problem.heads * std::max(problem.c, problem.cv) * kQueryBlock),
        wide_keys_(problem.q.computed() ? 0 : problem.heads * problem.c * kKeyTile),
        wide_values_(problem.q.computed() ? 0 : problem.heads * problem.cv * kKeyTile) {}

  void run(const AttentionUnit& unit, const BackwardTargets<T>& to) {
    const int64_t h0 = unit.head_begin, count = unit.head_end - h0;
    if (bias_) bias_->begin_unit(unit);
    dk_.begin({unit.k_begin, unit.k_end - unit.k_begin, h0 * p_.c, count * p_.c}, to.k, unit.group);
    dv_.begin({unit.k_begin, unit.k_end - unit.k_begin, h0 * p_.cv, count * p_.cv}, to.v, unit.group);
    for (int64_t i = unit.q_begin; i < unit.q_end; i += kQueryBlock) {
      rows_ = std::min(kQueryBlock, unit.q_end - i);
      padded_ = padded_rows<T>(rows_);
      begin_block(unit, i, to);
      for (int64_t j = unit.k_begin; j < unit.k_end; j += kKeyTile) {
        const int64_t keys = std::min(kKeyTile, unit.k_end - j);
        if (bias_) bias_->begin_tile(j, keys);
        k_ = read_block(p_.k, {j, keys, h0 * p_.c, count * p_.c}, wide_keys_.get());
        v_ = read_block(p_.v, {j, keys, h0 * p_.cv, count * p_.cv}, wide_values_.get());
        for (int64_t h = h0; h < unit.head_end; ++h) {
          bias_ ? tile<true>(j, keys, h, h - h0) : tile<false>(j, keys, h, h - h0);
        }
        if (bias_) bias_->end_tile();
      }
      end_block(unit, i, to);
    }
    dk_.end(to.k);
    dv_.end(to.v);
    if (bias_) bias_->end_unit();
  }

 private:
  void begin_block(const AttentionUnit& unit, int64_t i, const BackwardTargets<T>& to) {
    const int64_t h0 = unit.head_begin, count = unit.head_end - h0;
    pack_block(p_.q, {i, rows_, h0 * p_.c, count * p_.c}, padded_, wide_rows_.get(),
               queries_.get() + h0 * p_.c * kQueryBlock);
    std::fill_n(lost_.get() + h0 * p_.c * kQueryBlock, count * p_.c * kQueryBlock, T(0));
    std::fill_n(dr_sum_.get() + h0 * kQueryBlock, count * kQueryBlock, T(0));
    for (int64_t h = h0; h < unit.head_end; ++h) to.delta_sum[h] -= begin_head(i, h);
    if (bias_) bias_->begin_block(i, rows_);
  }

  // Computes e and delta of a head, and returns the sum of delta over the block.
  T begin_head(int64_t first, int64_t h) {
    const Tag<T> d;
    const Block block{first, rows_, h * p_.cv, p_.cv};
    T* const e = grad_output_.get() + h * p_.cv * kQueryBlock;
    pack_block(grad_, block, padded_, wide_rows_.get(), e);
    pack_block(out_, block, padded_, wide_rows_.get(), outputs_.get());
    pack_rows(denominator_ + first * p_.heads + h, p_.heads, rows_, padded_, 1, sums_.get());
    Vector<T> total = hn::Zero(d);
    for (int64_t i = 0; i < padded_; i += static_cast<int64_t>(hn::Lanes(d))) {
      const Vector<T> sum = hn::Load(d, sums_.get() + i);
      const auto none = hn::Lt(sum, hn::Set(d, std::numeric_limits<T>::min()));
      const Vector<T> share = hn::IfThenZeroElse(none, hn::Div(hn::Set(d, 1), sum));
      Vector<T> delta = hn::Zero(d);
      for (int64_t t = i; t < p_.cv * kQueryBlock; t += kQueryBlock) {
        const Vector<T> g = hn::Mul(hn::Load(d, e + t), share);
        hn::Store(g, d, e + t);
        delta = hn::MulAdd(g, hn::Load(d, outputs_.get() + t), delta);
      }
      hn::Store(delta, d, delta_.get() + h * kQueryBlock + i);
      total = hn::Add(total, delta);
    }
    return lane_sum<T>(total);
  }

  // `place` is the index of head h among those of the unit.
  template <bool kBiased>
  void tile(int64_t j, int64_t keys, int64_t h, int64_t place) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>())), vectors = padded_ / lanes;
    const T* k = k_.data + place * p_.c;
    const T* v = v_.data + place * p_.cv;
    const T* q = queries_.get() + h * p_.c * kQueryBlock;
    const T* e = grad_output_.get() + h * p_.cv * kQueryBlock;
    BiasTile<T> bias;
    if constexpr (kBiased) bias = bias_->fill(h);
    for_tiles(keys, vectors, lanes,
              ScoreTile<T, kBiased, /*kForward=*/false>{q, k, k_.stride, p_.c, scale_, bias, positive_.get(), nullptr,
                                                        raw_.get()});
    for_tiles(keys, vectors, lanes,
              ScoreGradient<T, kBiased>{e, v, v_.stride, p_.cv, scale_, delta_.get() + h * kQueryBlock, positive_.get(),
                                        bias.mul, ds_.get(), dr_.get(), dr_sum_.get() + h * kQueryBlock});
    for_column_tiles(keys, p_.cv, ValueGradient<T>{e, positive_.get(), padded_, dv_.at(j, h * p_.cv), dv_.stride()});
    for_column_tiles(keys, p_.c,
                     MaxGradient<T>{q, k, k_.stride, dr_.get(), padded_, lost_.get() + h * p_.c * kQueryBlock,
                                    dk_.at(j, h * p_.c), dk_.stride()});
    if constexpr (kBiased) bias_->backward(h, ds_.get(), raw_.get());
  }

  void end_block(const AttentionUnit& unit, int64_t i, const BackwardTargets<T>& to) {
    const Tag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t h = unit.head_begin; h < unit.head_end; ++h) {
      for (int64_t t = h * p_.c; t < (h + 1) * p_.c; ++t) {
        for (int64_t at = 0; at < padded_; at += lanes) {
          const Vector<T> all = hn::Load(d, dr_sum_.get() + h * kQueryBlock + at);
          T* lost = lost_.get() + t * kQueryBlock + at;
          hn::Store(hn::Sub(all, hn::Load(d, lost)), d, lost);
        }
      }
    }
    const int64_t begin = unit.head_begin * p_.c;
    unpack_block(lost_.get() + begin * kQueryBlock, to.dq, {i, rows_, begin, (unit.head_end - unit.head_begin) * p_.c},
                 wide_rows_.get());
    if (bias_) bias_->end_block();
  }

  const AttentionProblem<T>& p_;
  std::unique_ptr<AttentionBias<T>> bias_;
  RowAccessor<const T> grad_, out_;
  const T* denominator_;
  T scale_;
  Scratch<T> queries_, lost_, grad_output_, outputs_, sums_, delta_, dr_sum_, positive_, dr_, ds_, raw_;
  Scratch<T> wide_rows_, wide_keys_, wide_values_;
  RowSums<T> dk_, dv_;
  BlockNumbers<const T> k_{}, v_{};  // of the tile, from the first head of the unit on
  int64_t rows_ = 0, padded_ = 0;
};

GEOSFT_SIMD_END();
#endif
