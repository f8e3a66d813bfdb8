// SPDX-License-Identifier: Apache-2.0
// Computes the monomials of tokens one token at a time, a row per token; lanes are monomials.
#if defined(GEOSFT_MONOMIAL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_MONOMIAL_ROWS_INL_H_
#undef GEOSFT_MONOMIAL_ROWS_INL_H_
#else
#define GEOSFT_MONOMIAL_ROWS_INL_H_
#endif

#include <vector>

#include "models/ops/cpu/polynomial_problem.h"
#include "models/ops/cpu/vectors-inl.h"
#include "models/ops/monomials.h"

GEOSFT_SIMD_BEGIN();
constexpr int64_t kGroupBytes = 20 << 10;  // monomials that are computed together
constexpr size_t kLineBytes = 64;          // of a cache line

template <typename T>
int64_t monomial_vectors(const MonomialBasis& basis) {
  return (basis.size() + kLanes<T> - 1) / kLanes<T>;
}

// Stride between rows of monomials, in elements.
template <typename T>
int64_t monomial_stride(const MonomialBasis& basis) {
  return geosft::monomial_stride(basis.size(), kLanes<T>);
}

// Elements per row written by copy_row.
template <typename T>
int64_t row_stride(int64_t count) {
  return geosft::row_stride(count, kLanes<T>);
}

// to[0, count) = by * from[0, count), and `then` from there up to row_stride.
template <typename T>
HWY_INLINE void copy_row(const T* HWY_RESTRICT from, int64_t count, T by, T then, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const Vector<T> factor = hn::Set(d, by), after = hn::Set(d, then);
  int64_t t = 0;
  for (; t + kLanes<T> <= count; t += kLanes<T>) hn::StoreU(hn::Mul(hn::LoadU(d, from + t), factor), d, to + t);
#if HWY_MEM_OPS_MIGHT_FAULT || HWY_TARGET == HWY_SCALAR  // masked loads there read before they mask
  hn::StoreU(after, d, to + t);
  for (; t < count; ++t) to[t] = by * from[t];
#else
  const auto inside = hn::FirstN(d, static_cast<size_t>(count - t));
  const Vector<T> rest = hn::Mul(hn::MaskedLoad(inside, d, from + t), factor);
  hn::StoreU(hn::IfThenElse(inside, rest, after), d, to + t);
#endif
}

// Applies copy_row to rows [rows][from_stride], with ones after them. It works column by column, because compilers
// would replace it by memcpy calls if the factor is 1. The store of the tail of a row may spill into the next row, so
// it comes first.
template <typename T>
HWY_INLINE void copy_rows(const T* HWY_RESTRICT from, int64_t from_stride, int64_t count, int64_t rows, T by,
                          T* HWY_RESTRICT to, int64_t to_stride) {
  const Tag<T> d;
  const Vector<T> factor = hn::Set(d, by);
  const int64_t whole = count / kLanes<T> * kLanes<T>;
  for (int64_t j = 0; j < rows; ++j) {
    copy_row(from + j * from_stride + whole, count - whole, by, T(1), to + j * to_stride + whole);
  }
  for (int64_t t = 0; t < whole; t += kLanes<T>) {
    for (int64_t j = 0; j < rows; ++j) {
      hn::StoreU(hn::Mul(hn::LoadU(d, from + j * from_stride + t), factor), d, to + j * to_stride + t);
    }
  }
}

// How rows of monomials are computed. If one vector holds all x, monomials up to degree 2 are products of two lanes of
// the vector [x, 1, …], or of x alone if that fills the vector; 1 and x are then copied. Other monomials are computed
// run by run, in order: the lanes after a run are garbage until the next run.
template <typename T>
struct MonomialRecipe {
  using Lane = hwy::MakeSigned<T>;

  explicit MonomialRecipe(const MonomialBasis& basis)
      : in_lanes(basis.channels <= kLanes<T>),
        full(basis.channels == kLanes<T>),
        first_run(std::min(static_cast<size_t>(in_lanes ? 2 * basis.channels : basis.channels), basis.runs.size())) {
    if (in_lanes) choose_lanes(basis);
  }

  bool in_lanes, full;            // one vector holds all x, and nothing else
  size_t first_run;               // first run that is not among the lane products
  std::vector<Lane> left, right;  // lanes of the two factors, for whole vectors of monomials

 private:
  // Finds the smallest variable of a monomial and its cofactor, 1 or a variable; a variable is its own smallest one. A
  // lane index beyond a full vector becomes lane 0; those products are overwritten.
  void choose_lanes(const MonomialBasis& basis) {
    const auto one = static_cast<Lane>(basis.channels % kLanes<T>);
    const int64_t count = first_run == 0 ? 1 : basis.runs[first_run - 1].to + basis.runs[first_run - 1].count;
    const auto padded = static_cast<size_t>((count + kLanes<T> - 1) / kLanes<T> * kLanes<T>);
    left.assign(padded, one);
    right.assign(padded, one);
    for (size_t r = 0; r < first_run; ++r) {
      const MonomialRun& run = basis.runs[r];
      for (int64_t p = 0; p < run.count; ++p) {
        left[static_cast<size_t>(run.to + p)] = static_cast<Lane>(run.channel);
        right[static_cast<size_t>(run.to + p)] = left[static_cast<size_t>(run.from + p)];
      }
    }
  }
};

// Copies 1 and the channels of rows x; vectors spill into the monomials after them. It works column by column, because
// compilers would replace it by memcpy calls.
template <typename T>
HWY_NOINLINE void copy_channels(const T* HWY_RESTRICT x, int64_t x_stride, int64_t channels, int64_t rows,
                                T* HWY_RESTRICT to, int64_t stride) {
  const Tag<T> d;
  for (int64_t j = 0; j < rows; ++j) to[j * stride] = 1;
  for (int64_t t = 0; t < channels; t += kLanes<T>) {
    for (int64_t j = 0; j < rows; ++j) hn::StoreU(hn::Load(d, x + j * x_stride + t), d, to + j * stride + 1 + t);
  }
}

// Computes the monomials that are products of two lanes of rows x; for a full vector, those after the channels.
template <typename T>
HWY_NOINLINE void multiply_lanes(const MonomialRecipe<T>& recipe, const T* HWY_RESTRICT x, int64_t x_stride,
                                 int64_t rows, T* HWY_RESTRICT to, int64_t stride) {
  const Tag<T> d;
  const int64_t count = static_cast<int64_t>(recipe.left.size());
  for (int64_t a = recipe.full ? kLanes<T> : 0; a < count; a += kLanes<T>) {
    const auto left = hn::SetTableIndices(d, recipe.left.data() + a);
    const auto right = hn::SetTableIndices(d, recipe.right.data() + a);
    for (int64_t j = 0; j < rows; ++j) {
      const Vector<T> row = hn::Load(d, x + j * x_stride);
      const Vector<T> product = hn::Mul(hn::TableLookupLanes(row, left), hn::TableLookupLanes(row, right));
      hn::StoreU(product, d, to + j * stride + a);
    }
  }
}

// Computes the monomials of a run, from rows x that begin at its channel. Vectors as long as a cache line are stored to
// whole lines, with a mask for the first. Shorter ones are stored from the beginning of the run, since a store across
// two lines is cheap compared with a masked one, which takes a dozen cycles on AMD processors. Not inlined, so that
// everything fits in registers.
template <typename T>
HWY_NOINLINE void make_run(const MonomialRun& run, const T* HWY_RESTRICT x, int64_t x_stride, int64_t rows, T* to,
                           int64_t stride) {
  const Tag<T> d;
  constexpr bool whole_lines = kLanes<T> * sizeof(T) >= kLineBytes;
  const int64_t begin = whole_lines ? run.to % kLanes<T> : 0, count = begin + run.count;
  const auto lanes = hn::Not(hn::FirstN(d, static_cast<size_t>(begin)));
  const T* from = to + run.from - begin;
  to += run.to - begin;
  for (int64_t j = 0; j < rows; ++j, x += x_stride, from += stride, to += stride) {
    const Vector<T> by = hn::Set(d, *x);
    int64_t p = 0;
    if (begin > 0) {
      hn::BlendedStore(hn::Mul(by, hn::LoadU(d, from)), lanes, d, to);
      p = kLanes<T>;
    }
    for (; p < count; p += kLanes<T>) hn::StoreU(hn::Mul(by, hn::LoadU(d, from + p)), d, to + p);
  }
}

// Computes the monomials of `rows` tokens, one row per token. Loads may begin before a row or end after it: there must
// be one vector of memory before `to` and one after the rows. Rows are processed in pieces that fit in the L1 cache,
// because reading what was just stored in pieces of another size would stall.
template <typename T>
void monomial_rows(const MonomialBasis& basis, const MonomialRecipe<T>& recipe, const T* HWY_RESTRICT x, int64_t rows,
                   T* to) {
  const int64_t stride = monomial_stride<T>(basis), x_stride = row_stride<T>(basis.channels);
  const int64_t group = std::max<int64_t>(kGroupBytes / (stride * static_cast<int64_t>(sizeof(T))), 4);
  if (recipe.in_lanes) multiply_lanes(recipe, x, x_stride, rows, to, stride);
  if (!recipe.in_lanes || recipe.full) {
    copy_channels(x, x_stride, basis.degree > 0 ? basis.channels : 0, rows, to, stride);
  }
  for (int64_t first = 0; first < rows; first += group) {
    const int64_t count = std::min(group, rows - first);
    for (size_t r = recipe.first_run; r < basis.runs.size(); ++r) {
      const MonomialRun& run = basis.runs[r];
      make_run(run, x + first * x_stride + run.channel, x_stride, count, to + first * stride, stride);
    }
  }
}

GEOSFT_SIMD_END();
#endif
