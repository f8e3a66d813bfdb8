// SPDX-License-Identifier: Apache-2.0
// Monomials of tokens that are read one after the other: a row a token, lanes are monomials.
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

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {
constexpr int64_t kGroupBytes = 20 << 10;  // of monomials that are made together

template <typename T>
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));

template <typename T>
int64_t monomial_vectors(const MonomialBasis& basis) {
  return (basis.size() + kLanes<T> - 1) / kLanes<T>;
}

// Elements from one row of monomials to the next.
template <typename T>
int64_t monomial_stride(const MonomialBasis& basis) {
  return geosft::monomial_stride(basis.size(), kLanes<T>);
}

// Elements of a row as copy_row leaves it.
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
#if HWY_MEM_OPS_MIGHT_FAULT
  hn::StoreU(after, d, to + t);
  for (; t < count; ++t) to[t] = by * from[t];
#else
  const auto inside = hn::FirstN(d, static_cast<size_t>(count - t));
  const Vector<T> rest = hn::Mul(hn::MaskedLoad(inside, d, from + t), factor);
  hn::StoreU(hn::IfThenElse(inside, rest, after), d, to + t);
#endif
}

// A part of a run in one vector of monomials: from lane `begin` on, [to, to + lanes) is x[channel] times [from, …).
struct MonomialPiece {
  int64_t to, from, channel, begin;
};

// How rows of monomials are made. Those up to degree 2 are products of two lanes of the vector [x, 1, …], where that
// holds x and the 1; others are made in pieces, in their order: the lanes after a piece are garbage until the next.
template <typename T>
struct MonomialRecipe {
  using Lane = hwy::MakeSigned<T>;

  explicit MonomialRecipe(const MonomialBasis& basis) : in_lanes(basis.channels < kLanes<T>) {
    const size_t c = static_cast<size_t>(basis.channels), runs = basis.runs.size();
    const size_t first_piece = std::min(in_lanes ? 2 * c : c, runs);
    if (in_lanes) choose_lanes(basis, first_piece);
    for (size_t r = first_piece; r < runs; ++r) append_pieces(basis.runs[r]);
  }

  bool in_lanes;
  std::vector<Lane> left, right;  // lanes of the two factors, for whole vectors of monomials
  std::vector<MonomialPiece> pieces;

 private:
  // The least variable of a monomial, and what it is a multiple of: 1 or a variable, which is its own least one.
  void choose_lanes(const MonomialBasis& basis, size_t runs) {
    const auto one = static_cast<Lane>(basis.channels);
    const int64_t count = runs == 0 ? 1 : basis.runs[runs - 1].to + basis.runs[runs - 1].count;
    const auto padded = static_cast<size_t>((count + kLanes<T> - 1) / kLanes<T> * kLanes<T>);
    left.assign(padded, one);
    right.assign(padded, one);
    for (size_t r = 0; r < runs; ++r) {
      const MonomialRun& run = basis.runs[r];
      for (int64_t p = 0; p < run.count; ++p) {
        left[static_cast<size_t>(run.to + p)] = static_cast<Lane>(run.channel);
        right[static_cast<size_t>(run.to + p)] = left[static_cast<size_t>(run.from + p)];
      }
    }
  }

  void append_pieces(const MonomialRun& run) {
    for (int64_t at = run.to; at < run.to + run.count; at = (at / kLanes<T> + 1) * kLanes<T>) {
      const int64_t begin = at % kLanes<T>;
      pieces.push_back({at - begin, run.from + (at - run.to) - begin, run.channel, begin});
    }
  }
};

// The first monomials of rows x [rows][row_stride] that copy_row has made, 1 after the channels.
template <typename T>
void first_monomials(const MonomialBasis& basis, const MonomialRecipe<T>& recipe, const T* HWY_RESTRICT x, int64_t rows,
                     T* HWY_RESTRICT to) {
  const Tag<T> d;
  const int64_t stride = monomial_stride<T>(basis), x_stride = row_stride<T>(basis.channels);
  if (!recipe.in_lanes) {
    for (int64_t j = 0; j < rows; ++j) {
      to[j * stride] = 1;
      if (basis.degree > 0) std::copy_n(x + j * x_stride, basis.channels, to + j * stride + 1);
    }
    return;
  }
  for (size_t a = 0; a < recipe.left.size(); a += static_cast<size_t>(kLanes<T>)) {
    const auto left = hn::SetTableIndices(d, recipe.left.data() + a);
    const auto right = hn::SetTableIndices(d, recipe.right.data() + a);
    for (int64_t j = 0; j < rows; ++j) {
      const Vector<T> row = hn::Load(d, x + j * x_stride);
      const Vector<T> product = hn::Mul(hn::TableLookupLanes(row, left), hn::TableLookupLanes(row, right));
      hn::StoreU(product, d, to + j * stride + static_cast<int64_t>(a));
    }
  }
}

// Monomials of `rows` tokens, a row each. What is read may begin before its row or end after it: there must be a vector
// before `to` and one after the rows. A piece of as many rows as the first-level cache holds follows another: a
// processor waits where it reads what it stored a moment before in other pieces.
template <typename T>
void monomial_rows(const MonomialBasis& basis, const MonomialRecipe<T>& recipe, const T* HWY_RESTRICT x, int64_t rows,
                   T* to) {
  const Tag<T> d;
  const int64_t stride = monomial_stride<T>(basis), x_stride = row_stride<T>(basis.channels);
  const int64_t group = std::max<int64_t>(kGroupBytes / (stride * static_cast<int64_t>(sizeof(T))), 4);
  first_monomials(basis, recipe, x, rows, to);
  for (int64_t first = 0; first < rows; first += group) {
    const int64_t last = std::min(first + group, rows);
    for (const MonomialPiece piece : recipe.pieces) {
      const auto lanes = hn::Not(hn::FirstN(d, static_cast<size_t>(piece.begin)));
      for (int64_t j = first; j < last; ++j) {
        T* const row = to + j * stride;
        const Vector<T> product = hn::Mul(hn::Set(d, x[j * x_stride + piece.channel]), hn::LoadU(d, row + piece.from));
        hn::BlendedStore(product, lanes, d, row + piece.to);
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
