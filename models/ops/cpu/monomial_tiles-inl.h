// SPDX-License-Identifier: Apache-2.0
// Computes sums over monomials without storing more than one block of tokens. With w the weights of the basis and x^a a
// monomial:
//   add_monomials     state_at += sum_j x_j^a y_jt      lanes are monomials, one token after the other
//   EvaluateColumns   out_ti = sum_a state_at x_i^a     lanes are tokens
//   PullBackColumns   the gradient of sum_t out_ti y_ti by x_i, lanes are tokens (monomial_gradient-inl.h)
// A state keeps the columns of a vector of monomials together, [a / lanes][t][lanes], so that the first can store
// vectors and the others find the columns of a monomial at fixed distances.
#if defined(GEOSFT_MONOMIAL_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_MONOMIAL_TILES_INL_H_
#undef GEOSFT_MONOMIAL_TILES_INL_H_
#else
#define GEOSFT_MONOMIAL_TILES_INL_H_
#endif

#include "models/ops/cpu/monomial_rows-inl.h"
#include "models/ops/cpu/polynomial_problem.h"
#include "models/ops/cpu/register_tiles-inl.h"

GEOSFT_SIMD_BEGIN();
// Columns of a register tile, and the vectors per column.
constexpr int kColumnTile = kManyRegisters ? 9 : 5;
constexpr int kMonomialVectors = kManyRegisters ? 3 : 2;
constexpr int kTokenVectors = 2;

template <int J, class Body>
HWY_INLINE void run_columns(int64_t first, int64_t count, const Body& body) {
  if (count == J) return body.template run<J>(first);
  if constexpr (J > 1) run_columns<J - 1>(first, count, body);
}

// Calls body.run<J>(t) for pieces of J columns, of about equal size, that cover `columns`.
template <class Body>
void for_columns(int64_t columns, const Body& body) {
  const int64_t pieces = (columns + kColumnTile - 1) / kColumnTile;
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t first = columns * p / pieces;
    run_columns<kColumnTile>(first, columns * (p + 1) / pieces - first, body);
  }
}

template <typename T>
int64_t state_size(const MonomialBasis& basis, int64_t columns) {
  return monomial_vectors<T>(basis) * kLanes<T> * columns;
}

// Adds monomials [rows][stride] times y [rows][columns] to a state. The rows are summed in registers first: two short
// sums have less rounding error than a long one.
template <typename T>
struct AddColumns {
  const T* HWY_RESTRICT monomials;
  int64_t stride, vectors;
  const T* HWY_RESTRICT y;
  int64_t columns, rows;
  T* HWY_RESTRICT state;

  template <int J>
  void run(int64_t first) const {
    int64_t a = 0;
    for (; a + kMonomialVectors <= vectors; a += kMonomialVectors) tile<kMonomialVectors, J>(a, first);
    for (; a < vectors; ++a) tile<1, J>(a, first);
  }

  template <int I, int J>
  HWY_INLINE void tile(int64_t a, int64_t first) const {
    const Tag<T> d;
    Vector<T> sum[I][J];
    T* const at = state + (a * columns + first) * kLanes<T>;
    for (int i = 0; i < I; ++i) {
      for (int t = 0; t < J; ++t) sum[i][t] = hn::Zero(d);
    }
    for (int64_t j = 0; j < rows; ++j) {
      Vector<T> monomial[I];
      for (int i = 0; i < I; ++i) monomial[i] = hn::LoadU(d, monomials + j * stride + (a + i) * kLanes<T>);
      for (int t = 0; t < J; ++t) {
        const Vector<T> by = hn::Set(d, y[j * columns + first + t]);
        for (int i = 0; i < I; ++i) sum[i][t] = hn::MulAdd(monomial[i], by, sum[i][t]);
      }
    }
    for (int i = 0; i < I; ++i) {
      for (int t = 0; t < J; ++t) {
        T* const to = at + (i * columns + t) * kLanes<T>;
        hn::StoreU(hn::Add(hn::LoadU(d, to), sum[i][t]), d, to);
      }
    }
  }
};

// Computes monomials below the highest degree with tokens as lanes, x [channels][kTokenBlock] to
// [parents][kTokenBlock].
template <typename T>
HWY_NOINLINE void monomial_lanes(const MonomialBasis& basis, const T* HWY_RESTRICT x, int64_t padded, T* to) {
  const Tag<T> d;
  for (int64_t i = 0; i < padded; i += kLanes<T>) hn::Store(hn::Set(d, 1), d, to + i);
  for (const MonomialRun run : basis.runs) {
    if (run.to >= basis.parents()) break;
    for (int64_t i = 0; i < padded; i += kTokenVectors * kLanes<T>) {
      Vector<T> by[kTokenVectors];
      for (int n = 0; n < kTokenVectors; ++n) by[n] = hn::Load(d, x + run.channel * kTokenBlock + i + n * kLanes<T>);
      const T* from = to + run.from * kTokenBlock + i;
      T* at = to + run.to * kTokenBlock + i;
      for (int64_t p = 0; p < run.count; ++p, from += kTokenBlock, at += kTokenBlock) {
        for (int n = 0; n < kTokenVectors; ++n) {
          hn::Store(hn::Mul(by[n], hn::Load(d, from + n * kLanes<T>)), d, at + n * kLanes<T>);
        }
      }
    }
  }
}

// Reads the columns of one monomial of a state.
template <typename T>
struct StateColumns {
  const T* HWY_RESTRICT state;
  int64_t columns;
  HWY_INLINE const T* at(int64_t monomial, int64_t column) const {
    const int64_t lane = monomial & (kLanes<T> - 1);
    return state + (monomial - lane) * columns + column * kLanes<T> + lane;
  }
};

// Loads kTokenVectors vectors of tokens of the columns first + t of a block [columns][kTokenBlock].
template <int J, typename T>
HWY_INLINE void load_columns(const T* HWY_RESTRICT from, int64_t first, int64_t i, Vector<T> (&to)[J][kTokenVectors]) {
  const Tag<T> d;
  for (int t = 0; t < J; ++t) {
    for (int n = 0; n < kTokenVectors; ++n)
      to[t][n] = hn::Load(d, from + (first + t) * kTokenBlock + i + n * kLanes<T>);
  }
}

// Adds to out [columns][kTokenBlock]; monomials below the highest degree come from monomial_lanes.
template <typename T>
struct EvaluateColumns {
  const MonomialBasis& basis;
  StateColumns<T> state;
  const T* HWY_RESTRICT x;
  const T* HWY_RESTRICT monomials;
  int64_t padded;
  T* HWY_RESTRICT out;

  template <int J>
  void run(int64_t first) const {
    const Tag<T> d;
    for (int64_t i = 0; i < padded; i += kTokenVectors * kLanes<T>) {
      Vector<T> sum[J][kTokenVectors];
      load_columns<J, T>(out, first, i, sum);
      const T* const constant = state.at(0, first);
      for (int t = 0; t < J; ++t) {
        for (int n = 0; n < kTokenVectors; ++n) sum[t][n] = hn::Add(sum[t][n], hn::Set(d, constant[t * kLanes<T>]));
      }
      sum_runs<J>(first, i, sum);
      for (int t = 0; t < J; ++t) {
        for (int n = 0; n < kTokenVectors; ++n) {
          hn::Store(sum[t][n], d, out + (first + t) * kTokenBlock + i + n * kLanes<T>);
        }
      }
    }
  }

  template <int J>
  HWY_INLINE void sum_runs(int64_t first, int64_t i, Vector<T> (&sum)[J][kTokenVectors]) const {
    const Tag<T> d;
    const int64_t parents = basis.parents();
    for (int64_t a = 1; a < parents; ++a) {
      Vector<T> monomial[kTokenVectors];
      for (int n = 0; n < kTokenVectors; ++n)
        monomial[n] = hn::Load(d, monomials + a * kTokenBlock + i + n * kLanes<T>);
      add<J>(state.at(a, first), monomial, sum);
    }
    for (size_t r = basis.runs.size() - (basis.degree > 0 ? basis.channels : 0); r < basis.runs.size(); ++r) {
      const MonomialRun run = basis.runs[r];
      Vector<T> by[kTokenVectors];
      for (int n = 0; n < kTokenVectors; ++n) by[n] = hn::Load(d, x + run.channel * kTokenBlock + i + n * kLanes<T>);
      for (int64_t p = 0; p < run.count; ++p) {
        Vector<T> monomial[kTokenVectors];
        for (int n = 0; n < kTokenVectors; ++n) {
          monomial[n] = hn::Mul(by[n], hn::Load(d, monomials + (run.from + p) * kTokenBlock + i + n * kLanes<T>));
        }
        add<J>(state.at(run.to + p, first), monomial, sum);
      }
    }
  }

  template <int J>
  static HWY_INLINE void add(const T* HWY_RESTRICT at, const Vector<T> (&monomial)[kTokenVectors],
                             Vector<T> (&sum)[J][kTokenVectors]) {
    const Tag<T> d;
    for (int t = 0; t < J; ++t) {
      const Vector<T> by = hn::Set(d, at[t * kLanes<T>]);
      for (int n = 0; n < kTokenVectors; ++n) sum[t][n] = hn::MulAdd(monomial[n], by, sum[t][n]);
    }
  }
};

// to = from with each monomial multiplied by its weight; weights [monomial_vectors][lanes].
template <typename T>
void weigh(const T* HWY_RESTRICT weights, int64_t vectors, int64_t columns, const T* from, T* to) {
  const Tag<T> d;
  for (int64_t a = 0; a < vectors; ++a) {
    const Vector<T> weight = hn::LoadU(d, weights + a * kLanes<T>);
    for (int64_t t = a * columns; t < (a + 1) * columns; ++t) {
      hn::StoreU(hn::Mul(weight, hn::LoadU(d, from + t * kLanes<T>)), d, to + t * kLanes<T>);
    }
  }
}

GEOSFT_SIMD_END();
#endif
