// SPDX-License-Identifier: Apache-2.0
// The core that all attention operators share (SFT section 4.3), compiled once per vector target. Lanes are queries:
// every sum over keys is lane-wise, and keys are read as scalars from where they lie. A relative term (a class with the
// members that NoTerm has) fills mul and add for a tile of keys x queries of one head:
//   S = mul * sum_t max(q, k) / sqrt(c) + add,   out = relu(S) v / (sum_j (relu(S_j) + softplus(leak_j)) + eps).
// Nothing of size n x k exists beyond a tile. Backward computes the tile again.
#if defined(GEOSFT_ATTENTION_CORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ATTENTION_CORE_INL_H_
#undef GEOSFT_ATTENTION_CORE_INL_H_
#else
#define GEOSFT_ATTENTION_CORE_INL_H_
#endif

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "models/ops/cpu/attention_problem.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;

// Keys of a register tile; four vectors of queries go with them. AVX-512 and NEON have 32 registers, others 16.
constexpr int kTileRows = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;

// Aligned memory of one thread, not initialised.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t size) : data_(hwy::AllocateAligned<T>(static_cast<size_t>(std::max<int64_t>(size, 1)))) {}
  T* get() const { return data_.get(); }

 private:
  hwy::AlignedFreeUniquePtr<T[]> data_;
};

// to[t * to_stride + i] = from[i * from_stride + t] for four rows and columns.
template <typename T>
HWY_INLINE void transpose_4x4(const T* HWY_RESTRICT from, int64_t from_stride, T* HWY_RESTRICT to, int64_t to_stride) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    const hn::FixedTag<T, 4> d;
    const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_stride);
    const auto c = hn::LoadU(d, from + 2 * from_stride), e = hn::LoadU(d, from + 3 * from_stride);
    const auto ab = hn::InterleaveLower(d, a, b), ab_high = hn::InterleaveUpper(d, a, b);
    const auto ce = hn::InterleaveLower(d, c, e), ce_high = hn::InterleaveUpper(d, c, e);
    hn::StoreU(hn::ConcatLowerLower(d, ce, ab), d, to);
    hn::StoreU(hn::ConcatUpperUpper(d, ce, ab), d, to + to_stride);
    hn::StoreU(hn::ConcatLowerLower(d, ce_high, ab_high), d, to + 2 * to_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, ce_high, ab_high), d, to + 3 * to_stride);
    return;
  }
#endif
  for (int t = 0; t < 4; ++t) {
    for (int i = 0; i < 4; ++i) to[t * to_stride + i] = from[i * from_stride + t];
  }
}

// to[t * to_stride + i] = from[i * from_stride + t]. Sixteen rows at a time, so that whole cache lines are read and
// written: strides of a power of two fall into few sets of the cache.
template <typename T>
void transpose(const T* HWY_RESTRICT from, int64_t from_stride, int64_t rows, int64_t columns, T* HWY_RESTRICT to,
               int64_t to_stride) {
  const int64_t even_rows = rows / 4 * 4, even_columns = columns / 4 * 4;
  for (int64_t block = 0; block < even_rows; block += 16) {
    const int64_t end = std::min(block + 16, even_rows);
    for (int64_t t = 0; t < even_columns; t += 4) {
      for (int64_t i = block; i < end; i += 4) {
        transpose_4x4(from + i * from_stride + t, from_stride, to + t * to_stride + i, to_stride);
      }
    }
  }
  for (int64_t t = 0; t < columns; ++t) {
    for (int64_t i = t < even_columns ? even_rows : 0; i < rows; ++i) to[t * to_stride + i] = from[i * from_stride + t];
  }
}

// to[t][i] = from[i * stride + t] for i < rows, zero in the lanes up to `padded`. Rows of `to` are kQueryBlock long.
template <typename T>
void pack_rows(const T* from, int64_t stride, int64_t rows, int64_t padded, int64_t columns, T* to) {
  transpose(from, stride, rows, columns, to, kQueryBlock);
  if (rows == padded) return;
  for (int64_t t = 0; t < columns; ++t) std::fill(to + t * kQueryBlock + rows, to + t * kQueryBlock + padded, T(0));
}

// to[i * stride + t] = from[t][i].
template <typename T>
void unpack_rows(const T* from, int64_t rows, int64_t columns, T* to, int64_t stride) {
  transpose(from, kQueryBlock, columns, rows, to, stride);
}

template <int J, class Body>
HWY_INLINE void tile_row(int64_t j, int64_t vectors, int64_t lanes, const Body& body) {
  int64_t i = 0;
  for (; i + 4 <= vectors; i += 4) body.template run<J, 4>(j, i * lanes);
  if (i + 2 <= vectors) {
    body.template run<J, 2>(j, i * lanes);
    i += 2;
  }
  if (i < vectors) body.template run<J, 1>(j, i * lanes);
}

// body.run<J, I>(j, i) for register tiles of J rows and I vectors that cover rows x vectors, rows outermost.
template <class Body>
HWY_INLINE void for_tiles(int64_t rows, int64_t vectors, int64_t lanes, const Body& body) {
  int64_t j = 0;
  for (; j + kTileRows <= rows; j += kTileRows) tile_row<kTileRows>(j, vectors, lanes, body);
  for (; j < rows; ++j) tile_row<1>(j, vectors, lanes, body);
}

struct MaxPlus {
  template <class V>
  HWY_INLINE V operator()(V a, V b, V sum) const {
    return hn::Add(sum, hn::Max(a, b));
  }
};
struct MulPlus {
  template <class V>
  HWY_INLINE V operator()(V a, V b, V sum) const {
    return hn::MulAdd(a, b, sum);
  }
};

// sum[j][i] = sum_t combine(queries[t][i], keys[j * stride + t]).
template <int J, int I, typename T, class Combine>
HWY_INLINE void product(const T* HWY_RESTRICT queries, const T* HWY_RESTRICT keys, int64_t stride, int64_t depth,
                        const Combine& combine, Vector<T> (&sum)[J][I]) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < I; ++i) sum[j][i] = hn::Zero(d);
  }
  for (int64_t t = 0; t < depth; ++t) {
    Vector<T> query[I];
    for (int i = 0; i < I; ++i) query[i] = hn::Load(d, queries + t * kQueryBlock + i * lanes);
    for (int j = 0; j < J; ++j) {
      const Vector<T> key = hn::Set(d, keys[j * stride + t]);
      for (int i = 0; i < I; ++i) sum[j][i] = combine(query[i], key, sum[j][i]);
    }
  }
}

// What a relative term gives for one tile and head, [keys][kQueryBlock]; null: 1, or 0.
template <typename T>
struct TermTile {
  const T* mul = nullptr;
  const T* add = nullptr;
};

// The term of maxout_attention without r_mul and r_add, and the interface of every term.
template <typename T>
class NoTerm {
 public:
  struct Input {};
  struct Output {};
  NoTerm(const Input&, int64_t /*heads*/) {}
  NoTerm(const Input&, const Output&, int64_t /*heads*/) {}
  void begin_unit(const AttentionUnit&) {}                        // gradients begin at zero
  void begin_block(int64_t /*first_query*/, int64_t /*rows*/) {}  // rows <= kQueryBlock
  void begin_tile(int64_t /*first_key*/, int64_t /*keys*/) {}     // keys <= kKeyTile
  TermTile<T> fill(int64_t /*head*/) { return {}; }
  // add_grad: gradient of add; of mul: add_grad * raw. Both tiles may be overwritten.
  void backward(int64_t /*head*/, T* /*add_grad*/, T* /*raw*/) {}
  void end_tile() {}
  void end_block() {}
};

// relu(S) of a tile into `positive`, its sum over the keys added to row_sum; sum_t max(q, k) / sqrt(c) into `raw` if
// that is not null.
template <typename T>
struct ScoreTile {
  const T* HWY_RESTRICT q;
  const T* HWY_RESTRICT k;
  int64_t stride, c;
  T scale;
  TermTile<T> term;
  T* HWY_RESTRICT positive;
  T* HWY_RESTRICT row_sum;
  T* HWY_RESTRICT raw;

  template <int J, int I>
  HWY_INLINE void run(int64_t j0, int64_t i0) const {
    const Tag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    Vector<T> sum[J][I];
    product<J, I>(q + i0, k + j0 * stride, stride, c, MaxPlus(), sum);
    const Vector<T> by = hn::Set(d, scale);
    for (int i = 0; i < I; ++i) {
      Vector<T> total = row_sum ? hn::Load(d, row_sum + i0 + i * lanes) : hn::Zero(d);
      for (int j = 0; j < J; ++j) {
        const int64_t at = (j0 + j) * kQueryBlock + i0 + i * lanes;
        Vector<T> s = hn::Mul(sum[j][i], by);
        if (raw) hn::Store(s, d, raw + at);
        if (term.mul) s = hn::Mul(s, hn::Load(d, term.mul + at));
        if (term.add) s = hn::Add(s, hn::Load(d, term.add + at));
        s = hn::Max(hn::Zero(d), s);
        hn::Store(s, d, positive + at);
        total = hn::Add(total, s);
      }
      if (row_sum) hn::Store(total, d, row_sum + i0 + i * lanes);
    }
  }
};

// out[t][i] += sum_j tile[j][i] v[j * stride + t]; register tiles of columns t.
template <typename T>
struct WeightedValues {
  const T* HWY_RESTRICT tile;
  const T* HWY_RESTRICT v;
  int64_t stride, keys;
  T* HWY_RESTRICT out;

  template <int J, int I>
  HWY_INLINE void run(int64_t t0, int64_t i0) const {
    const Tag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    Vector<T> sum[J][I];
    for (int t = 0; t < J; ++t) {
      for (int i = 0; i < I; ++i) sum[t][i] = hn::Load(d, out + (t0 + t) * kQueryBlock + i0 + i * lanes);
    }
    for (int64_t j = 0; j < keys; ++j) {
      Vector<T> p[I];
      for (int i = 0; i < I; ++i) p[i] = hn::Load(d, tile + j * kQueryBlock + i0 + i * lanes);
      for (int t = 0; t < J; ++t) {
        const Vector<T> value = hn::Set(d, v[j * stride + t0 + t]);
        for (int i = 0; i < I; ++i) sum[t][i] = hn::MulAdd(p[i], value, sum[t][i]);
      }
    }
    for (int t = 0; t < J; ++t) {
      for (int i = 0; i < I; ++i) hn::Store(sum[t][i], d, out + (t0 + t) * kQueryBlock + i0 + i * lanes);
    }
  }
};

template <typename T>
T softplus_of(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

// sum_j softplus(leak[j]) of every item and head, [items, heads].
template <typename T>
void leak_sums(const AttentionProblem<T>& problem, int64_t item, T* out) {
  std::fill(out, out + problem.heads, T(0));
  for (int64_t j = problem.k_offsets[item]; j < problem.k_offsets[item + 1]; ++j) {
    for (int64_t h = 0; h < problem.heads; ++h) out[h] += softplus_of(problem.leak[j * problem.heads + h]);
  }
}

// Queries of a unit, block by block; what forward and backward share.
template <typename T>
int64_t padded_rows(int64_t rows) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  return (rows + lanes - 1) / lanes * lanes;
}

template <typename T, class Term>
class ForwardWorker {
 public:
  ForwardWorker(const AttentionProblem<T>& problem, const typename Term::Input& input, const T* leaks, T* out,
                T* denominator)
      : p_(problem),
        term_(input, problem.heads),
        leaks_(leaks),
        out_(out),
        denominator_(denominator),
        scale_(static_cast<T>(1.0 / std::sqrt(static_cast<double>(problem.c)))),
        queries_(problem.heads * problem.c * kQueryBlock),
        values_(problem.heads * problem.cv * kQueryBlock),
        sums_(problem.heads * kQueryBlock),
        tile_(kKeyTile * kQueryBlock) {}

  void run(const AttentionUnit& unit) {
    rows_ = unit.q_end - unit.q_begin;
    padded_ = padded_rows<T>(rows_);
    pack_rows(p_.q + unit.q_begin * p_.heads * p_.c, p_.heads * p_.c, rows_, padded_, p_.heads * p_.c, queries_.get());
    std::fill_n(values_.get(), p_.heads * p_.cv * kQueryBlock, T(0));
    for (int64_t h = 0; h < p_.heads; ++h) {
      std::fill_n(sums_.get() + h * kQueryBlock, kQueryBlock, leaks_[unit.item * p_.heads + h] + p_.eps);
    }
    term_.begin_unit(unit);
    term_.begin_block(unit.q_begin, rows_);
    for (int64_t j = unit.k_begin; j < unit.k_end; j += kKeyTile) {
      const int64_t keys = std::min(kKeyTile, unit.k_end - j);
      term_.begin_tile(j, keys);
      for (int64_t h = 0; h < p_.heads; ++h) tile(j, keys, h);
    }
    finish(unit.q_begin);
  }

 private:
  void tile(int64_t j, int64_t keys, int64_t h) {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
    const int64_t vectors = padded_ / lanes, k_stride = p_.heads * p_.c, v_stride = p_.heads * p_.cv;
    for_tiles(keys, vectors, lanes,
              ScoreTile<T>{queries_.get() + h * p_.c * kQueryBlock, p_.k + j * k_stride + h * p_.c, k_stride, p_.c,
                           scale_, term_.fill(h), tile_.get(), sums_.get() + h * kQueryBlock, nullptr});
    for_tiles(p_.cv, vectors, lanes,
              WeightedValues<T>{tile_.get(), p_.v + j * v_stride + h * p_.cv, v_stride, keys,
                                values_.get() + h * p_.cv * kQueryBlock});
  }

  void finish(int64_t q_begin) {
    const Tag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), width = p_.heads * p_.cv;
    for (int64_t h = 0; h < p_.heads; ++h) {
      for (int64_t i = 0; i < padded_; i += lanes) {
        const Vector<T> sum = hn::Load(d, sums_.get() + h * kQueryBlock + i);
        const auto none = hn::Eq(sum, hn::Zero(d));
        for (int64_t t = 0; t < p_.cv; ++t) {
          T* at = values_.get() + (h * p_.cv + t) * kQueryBlock + i;
          hn::Store(hn::IfThenZeroElse(none, hn::Div(hn::Load(d, at), sum)), d, at);
        }
      }
    }
    unpack_rows(values_.get(), rows_, width, out_ + q_begin * width, width);
    unpack_rows(sums_.get(), rows_, p_.heads, denominator_ + q_begin * p_.heads, p_.heads);
  }

  const AttentionProblem<T>& p_;
  Term term_;
  const T* leaks_;
  T* out_;
  T* denominator_;
  T scale_;
  Scratch<T> queries_, values_, sums_, tile_;
  int64_t rows_ = 0, padded_ = 0;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
