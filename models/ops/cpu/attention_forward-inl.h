// SPDX-License-Identifier: Apache-2.0
// Computes the forward pass of all attention operators (SFT section 4.3), compiled once per vector target. Lanes are
// queries: every sum over keys is lane-wise, and keys are read in place as scalars. An attention bias fills mul and add
// for a tile of keys x queries of one head:
//   S = mul * sum_t max(q, k) / sqrt(c) + add,   out = relu(S) v / (sum_j (relu(S_j) + softplus(leak_j)) + eps).
// Only one tile of the n x k scores exists at a time. The backward pass recomputes it.
#if defined(GEOSFT_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ATTENTION_FORWARD_INL_H_
#undef GEOSFT_ATTENTION_FORWARD_INL_H_
#else
#define GEOSFT_ATTENTION_FORWARD_INL_H_
#endif

#include <cmath>
#include <limits>

#include "models/ops/cpu/attention_kernels.h"
#include "models/ops/cpu/row_accessor-inl.h"
#include "models/ops/cpu/score_tile-inl.h"
#include "models/ops/cpu/softplus-inl.h"

GEOSFT_SIMD_BEGIN();
template <typename T>
class ForwardWorker {
 public:
  // `bias` may be null.
  ForwardWorker(const AttentionProblem<T>& problem, std::unique_ptr<AttentionBias<T>> bias, const T* leaks,
                const RowAccessor<T>& out, T* denominator)
      : p_(problem),
        bias_(std::move(bias)),
        leaks_(leaks),
        out_(out),
        denominator_(denominator),
        scale_(static_cast<T>(1.0 / std::sqrt(static_cast<double>(problem.c)))),
        queries_(problem.heads * problem.c * kQueryBlock),
        values_(problem.heads * problem.cv * kQueryBlock),
        sums_(problem.heads * kQueryBlock),
        tile_(kKeyTile * kQueryBlock),
        wide_rows_(problem.q.computed() ? 0 : problem.heads * std::max(problem.c, problem.cv) * kQueryBlock),
        wide_keys_(problem.q.computed() ? 0 : problem.heads * problem.c * kKeyTile),
        wide_values_(problem.q.computed() ? 0 : problem.heads * problem.cv * kKeyTile) {}

  void run(const AttentionUnit& unit) {
    rows_ = unit.q_end - unit.q_begin;
    padded_ = padded_rows<T>(rows_);
    pack_block(p_.q, {unit.q_begin, rows_, 0, p_.heads * p_.c}, padded_, wide_rows_.get(), queries_.get());
    std::fill_n(values_.get(), p_.heads * p_.cv * kQueryBlock, T(0));
    for (int64_t h = 0; h < p_.heads; ++h) {
      begin_sums(h, leaks_[unit.item * p_.heads + h] + p_.eps);
    }
    if (bias_) {
      bias_->begin_unit(unit);
      bias_->begin_block(unit.q_begin, rows_);
    }
    for (int64_t j = unit.k_begin; j < unit.k_end; j += kKeyTile) {
      const int64_t keys = std::min(kKeyTile, unit.k_end - j);
      if (bias_) bias_->begin_tile(j, keys);
      k_ = read_block(p_.k, {j, keys, 0, p_.heads * p_.c}, wide_keys_.get());
      v_ = read_block(p_.v, {j, keys, 0, p_.heads * p_.cv}, wide_values_.get());
      for (int64_t h = 0; h < p_.heads; ++h) bias_ ? tile<true>(keys, h) : tile<false>(keys, h);
    }
    finish(unit.q_begin);
  }

 private:
  // Initialises the sums with `value`, or with NaN if the query contains one: the vector maximum does not propagate it.
  void begin_sums(int64_t h, T value) {
    const Tag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < padded_; i += lanes) {
      Vector<T> sum = hn::Set(d, value);
      for (int64_t t = h * p_.c; t < (h + 1) * p_.c; ++t) {
        const Vector<T> query = hn::Load(d, queries_.get() + t * kQueryBlock + i);
        sum = hn::IfThenElse(hn::IsNaN(query), query, sum);
      }
      hn::Store(sum, d, sums_.get() + h * kQueryBlock + i);
    }
  }

  template <bool kBiased>
  void tile(int64_t keys, int64_t h) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>())), vectors = padded_ / lanes;
    BiasTile<T> bias;
    if constexpr (kBiased) bias = bias_->fill(h);
    for_tiles(keys, vectors, lanes,
              ScoreTile<T, kBiased, /*kForward=*/true>{queries_.get() + h * p_.c * kQueryBlock, k_.data + h * p_.c,
                                                       k_.stride, p_.c, scale_, bias, tile_.get(),
                                                       sums_.get() + h * kQueryBlock, nullptr});
    for_tiles(
        p_.cv, vectors, lanes,
        WeightedValues<T>{tile_.get(), v_.data + h * p_.cv, v_.stride, keys, values_.get() + h * p_.cv * kQueryBlock});
  }

  void finish(int64_t q_begin) {
    const Tag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t h = 0; h < p_.heads; ++h) {
      for (int64_t i = 0; i < padded_; i += lanes) {
        const Vector<T> sum = hn::Load(d, sums_.get() + h * kQueryBlock + i);
        // A smaller sum has no finite inverse.
        const auto none = hn::Lt(sum, hn::Set(d, std::numeric_limits<T>::min()));
        const Vector<T> share = hn::IfThenZeroElse(none, hn::Div(hn::Set(d, 1), sum));
        for (int64_t t = 0; t < p_.cv; ++t) {
          T* at = values_.get() + (h * p_.cv + t) * kQueryBlock + i;
          hn::Store(hn::Mul(hn::Load(d, at), share), d, at);
        }
      }
    }
    unpack_block(values_.get(), out_, {q_begin, rows_, 0, p_.heads * p_.cv}, wide_rows_.get());
    unpack_rows(sums_.get(), rows_, p_.heads, denominator_ + q_begin * p_.heads, p_.heads);
  }

  const AttentionProblem<T>& p_;
  std::unique_ptr<AttentionBias<T>> bias_;
  const T* leaks_;
  RowAccessor<T> out_;
  T* denominator_;
  T scale_;
  Scratch<T> queries_, values_, sums_, tile_, wide_rows_, wide_keys_, wide_values_;
  BlockNumbers<const T> k_{}, v_{};  // of the tile
  int64_t rows_ = 0, padded_ = 0;
};

GEOSFT_SIMD_END();
#endif
