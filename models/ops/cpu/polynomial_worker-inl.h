// SPDX-License-Identifier: Apache-2.0
// Computes the two kinds of work of polynomial_attention (polynomial_problem.h), for the units of one thread.
#if defined(GEOSFT_POLYNOMIAL_WORKER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_POLYNOMIAL_WORKER_INL_H_
#undef GEOSFT_POLYNOMIAL_WORKER_INL_H_
#else
#define GEOSFT_POLYNOMIAL_WORKER_INL_H_
#endif

#include <hwy/cache_control.h>

#include "models/ops/cpu/monomial_gradient-inl.h"
#include "models/ops/cpu/polynomial_pairs-inl.h"
#include "models/ops/cpu/transpose-inl.h"

GEOSFT_SIMD_BEGIN();

// Constants that every thread reads: weights of the monomials, padded with zeros to whole vectors, 1 / t! for t <=
// degree, and how rows of monomials are computed.
template <typename T>
struct PolynomialConstants {
  explicit PolynomialConstants(const MonomialBasis& basis)
      : weights(basis.weights.begin(), basis.weights.end()), coefficients{1}, recipe(basis) {
    weights.resize(static_cast<size_t>(monomial_vectors<T>(basis) * kLanes<T>), T(0));
    double coefficient = 1;
    for (int64_t t = 1; t <= basis.degree; ++t) {
      coefficient /= static_cast<double>(t);
      coefficients.push_back(static_cast<T>(coefficient));
    }
  }
  std::vector<T> weights, coefficients;
  MonomialRecipe<T> recipe;
};

template <typename T>
class PolynomialWorker {
 public:
  PolynomialWorker(const PolynomialTask<T>& task, const PolynomialConstants<T>& constants)
      : PolynomialWorker(task, constants,
                         polynomial_scratch(task.basis, task.columns(), task.reach, task.gradient != nullptr, kLanes<T>,
                                            sizeof(T))) {}

  // Adds monomials times y of keys [begin, end) to a state, without the weights of the basis.
  void add_keys(int64_t head, int64_t begin, int64_t end, T* state) {
    const MonomialBasis& basis = t_.basis;
    T* const made = monomial_rows_.get() + kLanes<T>;
    fetch_share(t_.key, head, end, end - begin);
    for (int64_t row = begin; row < end; row += batch_) {
      const int64_t rows = std::min(batch_, end - row);
      gather(head, row, rows);
      monomial_rows(basis, constants_.recipe, x_rows_.get(), rows, made);
      for_columns(t_.columns(),
                  AddColumns<T>{made, monomial_stride<T>(basis), vectors_, y_rows_.get(), t_.columns(), rows, state});
    }
  }

  // Computes the results of the unit's rows. `state` is the weighted state of all keys; with Reach::before or
  // after it is the unweighted state of the rows outside the unit, to which the unit's rows are added block by
  // block.
  void relate(const PolynomialUnit& unit, const PolynomialPair& pair, T* state) {
    const int64_t blocks = (unit.end - unit.begin + kTokenBlock - 1) / kTokenBlock;
    if (t_.reach == Reach::all) fetch_share(t_.query, pair.head, unit.end, unit.end - unit.begin);
    for (int64_t n = 0; n < blocks; ++n) {
      const int64_t begin = unit.begin + (t_.reach == Reach::after ? blocks - 1 - n : n) * kTokenBlock;
      begin_block(pair.head, begin, std::min(kTokenBlock, unit.end - begin));
      if (pair.direct) {
        accumulate_pairs(pair, begin);
      } else if (t_.reach == Reach::all) {
        accumulate_state(state);
      } else {
        weigh(constants_.weights.data(), vectors_, t_.columns(), state, weighed_.get());
        accumulate_state(weighed_.get());
        accumulate_rows(pair.head, begin, rows_, /*same=*/true);
        add_keys(pair.head, begin, begin + rows_, state);
      }
      end_block(pair, begin);
    }
  }

 private:
  PolynomialWorker(const PolynomialTask<T>& task, const PolynomialConstants<T>& constants,
                   const PolynomialScratch& sizes)
      : t_(task),
        constants_(constants),
        vectors_(monomial_vectors<T>(task.basis)),
        batch_(batch_rows(monomial_stride<T>(task.basis) * static_cast<int64_t>(sizeof(T)))),
        x_rows_(sizes.x_rows),
        y_rows_(sizes.y_rows),
        monomial_rows_(sizes.monomial_rows),
        x_(sizes.x),
        y_(sizes.y),
        value_(sizes.value),
        gradient_(sizes.gradient),
        monomials_(sizes.monomials),
        slopes_(sizes.slopes),
        weighed_(sizes.weighed),
        weight_tile_(sizes.tiles),
        slope_tile_(sizes.tiles) {}

  int64_t value_columns() const { return t_.valued() ? t_.cv + (t_.denominator ? 1 : 0) : 0; }
  int64_t key_begin(const PolynomialPair& pair) const { return t_.key.offsets[pair.item]; }
  int64_t key_end(const PolynomialPair& pair) const { return t_.key.offsets[pair.item + 1]; }

  // Prefetches a head's share of rows [begin, begin + rows), all heads of which are processed next: hardware
  // prefetchers cannot predict the order of these reads.
  void fetch_share(const PolynomialTokens<T>& from, int64_t head, int64_t begin, int64_t rows) const {
    const int64_t first = begin * t_.heads + head * rows, last = std::min(first + rows, from.offsets.back() * t_.heads);
    if (first >= last) return;
    fetch(from.x + first * t_.basis.channels, (last - first) * t_.basis.channels);
    if (from.y) fetch(from.y + first * t_.cv, (last - first) * t_.cv);
  }
  static void fetch(const T* from, int64_t count) {
    constexpr int64_t line = 64 / sizeof(T);
    for (int64_t n = 0; n < count; n += line) hwy::Prefetch(from + n);
  }

  // Loads keys: x scaled, y with its further column. Not inlined, for the same reason as make_run.
  HWY_NOINLINE void gather(int64_t head, int64_t begin, int64_t rows) {
    const PolynomialTokens<T>& from = t_.key;
    const int64_t c = t_.basis.channels, cv = t_.cv, heads = t_.heads, first = begin * heads + head;
    copy_rows(from.x + first * c, heads * c, c, rows, from.scale, x_rows_.get(), row_stride<T>(c));
    const T* const y = from.y + first * cv;
    if (!from.divisor && !from.last) return copy_rows(y, heads * cv, cv, rows, T(1), y_rows_.get(), cv + 1);
    for (int64_t j = 0; j < rows; ++j) {
      const int64_t row = first + j * heads;
      const T share = from.divisor ? 1 / from.divisor[row] : T(1), last = from.last ? from.last[row] : T(1);
      copy_row(y + j * heads * cv, cv, share, last * share, y_rows_.get() + j * (cv + 1));
    }
  }

  static void scale_block(T* values, int64_t columns, T by) {
    for (int64_t n = 0; n < columns * kTokenBlock; ++n) values[n] *= by;
  }

  void begin_block(int64_t head, int64_t begin, int64_t rows) {
    const PolynomialTokens<T>& from = t_.query;
    const int64_t c = t_.basis.channels, first = begin * t_.heads + head;
    constexpr int64_t step = kTokenVectors * kLanes<T>;
    rows_ = rows;
    padded_ = (rows + step - 1) / step * step;
    pack_rows<kTokenBlock>(from.x + first * c, t_.heads * c, rows, padded_, c, x_.get());
    scale_block(x_.get(), c, from.scale);
    std::fill_n(value_.get(), value_columns() * kTokenBlock, T(0));
    if (!t_.gradient) return;
    std::fill_n(gradient_.get(), c * kTokenBlock, T(0));
    T* const last = y_.get() + t_.cv * kTokenBlock;
    pack_rows<kTokenBlock>(from.y + first * t_.cv, t_.heads * t_.cv, rows, padded_, t_.cv, y_.get());
    std::fill_n(last, padded_, T(1));
    if (from.last) pack_rows<kTokenBlock>(from.last + first, t_.heads, rows, padded_, 1, last);
    if (from.divisor) divide_block(from.divisor + first);
  }

  // Divides the y of the queries by its divisor. Lanes beyond the rows hold zeros and are never read.
  void divide_block(const T* divisor) {
    const Tag<T> d;
    T* const divisors = weight_tile_.get();
    pack_rows<kTokenBlock>(divisor, t_.heads, rows_, padded_, 1, divisors);
    for (int64_t i = 0; i < padded_; i += kLanes<T>) {
      const Vector<T> share = hn::Div(hn::Set(d, 1), hn::Load(d, divisors + i));
      for (int64_t t = 0; t <= t_.cv; ++t) {
        T* const at = y_.get() + t * kTokenBlock + i;
        hn::Store(hn::Mul(hn::Load(d, at), share), d, at);
      }
    }
  }

  void accumulate_state(const T* weighed) {
    const StateColumns<T> state{weighed, t_.columns()};
    monomial_lanes(t_.basis, x_.get(), padded_, monomials_.get());
    if (t_.valued()) {
      for_columns(value_columns(),
                  EvaluateColumns<T>{t_.basis, state, x_.get(), monomials_.get(), padded_, value_.get()});
    }
    if (t_.gradient) {
      for_columns(t_.columns(), PullBackColumns<T>{t_.basis, state, x_.get(), y_.get(), monomials_.get(), padded_,
                                                   slopes_.get(), gradient_.get()});
    }
  }

  void accumulate_pairs(const PolynomialPair& pair, int64_t begin) {
    const int64_t place = begin - t_.query.offsets[pair.item] + key_begin(pair);
    const int64_t from = t_.reach == Reach::after ? place : key_begin(pair);
    const int64_t to = t_.reach == Reach::before ? place + rows_ : key_end(pair);
    for (int64_t row = from; row < to; row += kTokenBlock) {
      accumulate_rows(pair.head, row, std::min(kTokenBlock, to - row), t_.reach != Reach::all && row == place);
    }
  }

  // `same`: the keys are the block itself.
  void accumulate_rows(int64_t head, int64_t begin, int64_t rows, bool same) {
    const int64_t c = t_.basis.channels, stride = row_stride<T>(c);
    gather(head, begin, rows);
    T* const weight = t_.valued() ? weight_tile_.get() : nullptr;
    T* const slope = t_.gradient ? slope_tile_.get() : nullptr;
    const int64_t vectors = padded_ / kLanes<T>, degree = t_.basis.degree;
    const T* const coefficients = constants_.coefficients.data();
    if (slope) {
      const PolynomialTile<T, true> tile{x_.get(), x_rows_.get(), c, stride, coefficients, degree, weight, slope};
      for_tiles(rows, vectors, kLanes<T>, tile);
    } else {
      const PolynomialTile<T, false> tile{x_.get(), x_rows_.get(), c, stride, coefficients, degree, weight, nullptr};
      for_tiles(rows, vectors, kLanes<T>, tile);
    }
    if (t_.valued()) add_weighted(weight, y_rows_.get(), t_.columns(), value_columns(), rows, same, value_.get());
    if (t_.gradient) {
      for_tiles(rows, vectors, kLanes<T>, SlopeTile<T>{y_.get(), y_rows_.get(), t_.columns(), slope});
      add_weighted(slope, x_rows_.get(), stride, c, rows, same, gradient_.get());
    }
  }

  void add_weighted(const T* weight, const T* from, int64_t stride, int64_t columns, int64_t rows, bool same, T* to) {
    const int64_t vectors = padded_ / kLanes<T>;
    if (same) {
      for_tiles(columns, vectors, kLanes<T>, WeightedRows<T, true>{weight, from, stride, rows, t_.reach, to});
    } else {
      for_tiles(columns, vectors, kLanes<T>, WeightedRows<T, false>{weight, from, stride, rows, t_.reach, to});
    }
  }

  void end_block(const PolynomialPair& pair, int64_t begin) {
    const int64_t first = begin * t_.heads + pair.head, c = t_.basis.channels;
    if (t_.denominator) divide(key_begin(pair) == key_end(pair));
    if (t_.valued()) {
      unpack_rows<kTokenBlock>(value_.get(), rows_, t_.cv, t_.value + first * t_.cv, t_.heads * t_.cv);
    }
    if (t_.denominator) {
      unpack_rows<kTokenBlock>(value_.get() + t_.cv * kTokenBlock, rows_, 1, t_.denominator + first, t_.heads);
    }
    if (!t_.gradient) return;
    scale_block(gradient_.get(), c, t_.query.scale);
    unpack_rows<kTokenBlock>(gradient_.get(), rows_, c, t_.gradient + first * c, t_.heads * c);
  }

  // Without keys the result is 0, not 0 / 0.
  void divide(bool no_keys) {
    const Tag<T> d;
    for (int64_t i = 0; i < padded_; i += kLanes<T>) {
      const Vector<T> sum = hn::Load(d, value_.get() + t_.cv * kTokenBlock + i);
      const Vector<T> share = no_keys ? hn::Zero(d) : hn::Div(hn::Set(d, 1), sum);
      for (int64_t t = 0; t < t_.cv; ++t) {
        T* const at = value_.get() + t * kTokenBlock + i;
        hn::Store(hn::Mul(hn::Load(d, at), share), d, at);
      }
    }
  }

  const PolynomialTask<T>& t_;
  const PolynomialConstants<T>& constants_;
  int64_t vectors_, batch_;
  Scratch<T> x_rows_, y_rows_, monomial_rows_;                // of keys
  Scratch<T> x_, y_, value_, gradient_, monomials_, slopes_;  // of queries, which are lanes
  Scratch<T> weighed_, weight_tile_, slope_tile_;
  int64_t rows_ = 0, padded_ = 0;
};

GEOSFT_SIMD_END();
#endif
