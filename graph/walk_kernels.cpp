// SPDX-License-Identifier: Apache-2.0
#include "graph/walk_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graph/walk_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most one row.
template <typename T>
using Lanes = hn::CappedTag<T, 64 / sizeof(T)>;
template <typename T>
constexpr int64_t columns = 64 / sizeof(T);

// Number of rows summed in T before the sum continues in double.
constexpr int64_t chunk_rows = 256;

// Sums `vectors` adjacent vectors per neighbour, so that the whole cache line of a neighbour is read at once.
template <size_t vectors, bool weighted, typename T>
HWY_INLINE void gather(const WalkStep<T>& step, int64_t row, int64_t column, hn::Vec<Lanes<T>>* sum) {
  const Lanes<T> d;
  const T* from = step.from + column;
  const auto add = [&](int64_t e, size_t v) {
    const auto value = hn::Load(d, from + step.neighbour[e] * columns<T> + v * hn::Lanes(d));
    if constexpr (weighted) return hn::MulAdd(value, hn::Set(d, step.weight[e]), sum[v]);
    return hn::Add(sum[v], value);
  };
  for (size_t v = 0; v < vectors; ++v) sum[v] = hn::Zero(d);
  for (int64_t e = step.begin[row]; e < step.begin[row + 1]; ++e) {
    for (size_t v = 0; v < vectors; ++v) sum[v] = add(e, v);
  }
}

template <typename T>
HWY_INLINE void add_lanes(hn::Vec<Lanes<T>> sums, int64_t column, double* to) {
  const Lanes<T> d;
  HWY_ALIGN T values[columns<T>];
  hn::Store(sums, d, values);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) to[column + lane] += static_cast<double>(values[lane]);
}

template <size_t vectors, bool weighted, typename T>
void symmetric_chunk(const WalkStep<T>& step, const int32_t* rows, int64_t count, int64_t column, double* even,
                     double* odd) {
  const Lanes<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Lanes<T>> sum[vectors], even_sum[vectors], odd_sum[vectors];
  for (size_t v = 0; v < vectors; ++v) even_sum[v] = odd_sum[v] = hn::Zero(d);
  for (int64_t r = 0; r < count; ++r) {
    const int64_t row = rows[r], first = row * columns<T> + column;
    gather<vectors, weighted>(step, row, column, sum);
    const auto inverse_degree = hn::Set(d, step.inverse_degree[row]);
    for (size_t v = 0; v < vectors; ++v) {
      const int64_t at = first + static_cast<int64_t>(v) * lanes;
      const auto next = hn::Mul(sum[v], inverse_degree);
      hn::Store(next, d, step.to + at);
      even_sum[v] = hn::MulAdd(sum[v], next, even_sum[v]);
      odd_sum[v] = hn::MulAdd(sum[v], hn::Load(d, step.from + at), odd_sum[v]);
    }
  }
  for (size_t v = 0; v < vectors; ++v) {
    add_lanes<T>(even_sum[v], column + static_cast<int64_t>(v) * lanes, even);
    add_lanes<T>(odd_sum[v], column + static_cast<int64_t>(v) * lanes, odd);
  }
}

// Calls body(rows, count, column) for chunks of the rows and, within a chunk, for `wide` columns at a time.
template <class Body>
HWY_INLINE void for_chunks(const int32_t* rows, int64_t count, int64_t all, int64_t wide, const Body& body) {
  for (int64_t begin = 0; begin < count; begin += chunk_rows) {
    const int64_t size = std::min(chunk_rows, count - begin);
    for (int64_t column = 0; column < all; column += wide) body(rows + begin, size, column);
  }
}

template <size_t vectors, bool weighted, typename T>
void symmetric_steps(const WalkStep<T>& step, double* even, double* odd) {
  const int64_t wide = static_cast<int64_t>(vectors * hn::Lanes(Lanes<T>()));
  for_chunks(step.rows, step.count, columns<T>, wide, [&](const int32_t* rows, int64_t count, int64_t column) {
    symmetric_chunk<vectors, weighted>(step, rows, count, column, even, odd);
  });
}

template <typename T>
void symmetric_any(const WalkStep<T>& step, double* even, double* odd) {
  constexpr size_t vectors = 2 * hn::MaxLanes(Lanes<T>()) <= columns<T> ? 2 : 1;
  if (step.weight == nullptr) return symmetric_steps<vectors, false>(step, even, odd);
  symmetric_steps<vectors, true>(step, even, odd);
}

template <typename T>
void step_any(const WalkStep<T>& step) {
  const Lanes<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for_chunks(step.rows, step.count, columns<T>, lanes, [&](const int32_t* rows, int64_t count, int64_t column) {
    for (int64_t r = 0; r < count; ++r) {
      hn::Vec<Lanes<T>> sum;
      gather<1, true>(step, rows[r], column, &sum);
      hn::Store(sum, d, step.to + rows[r] * columns<T> + column);
    }
  });
}

template <typename T>
void product_any(const T* a, const T* b, const int32_t* all_rows, int64_t all_count, double* sum) {
  const Lanes<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for_chunks(all_rows, all_count, columns<T>, lanes, [&](const int32_t* rows, int64_t count, int64_t column) {
    auto sums = hn::Zero(d);
    for (int64_t r = 0; r < count; ++r) {
      const int64_t at = rows[r] * columns<T> + column;
      sums = hn::MulAdd(hn::Load(d, a + at), hn::Load(d, b + at), sums);
    }
    add_lanes<T>(sums, column, sum);
  });
}

void symmetric_float(const WalkStep<float>& step, double* even, double* odd) {
  symmetric_any(step, even, odd);
}
void symmetric_double(const WalkStep<double>& step, double* even, double* odd) {
  symmetric_any(step, even, odd);
}
void step_float(const WalkStep<float>& step) {
  step_any(step);
}
void step_double(const WalkStep<double>& step) {
  step_any(step);
}
void product_float(const float* a, const float* b, const int32_t* rows, int64_t count, double* sum) {
  product_any(a, b, rows, count, sum);
}
void product_double(const double* a, const double* b, const int32_t* rows, int64_t count, double* sum) {
  product_any(a, b, rows, count, sum);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft {
namespace {
HWY_EXPORT(symmetric_float);
HWY_EXPORT(symmetric_double);
HWY_EXPORT(step_float);
HWY_EXPORT(step_double);
HWY_EXPORT(product_float);
HWY_EXPORT(product_double);
}  // namespace

void walk_step_symmetric(const WalkStep<float>& step, double* even, double* odd) {
  HWY_DYNAMIC_DISPATCH(symmetric_float)(step, even, odd);
}
void walk_step_symmetric(const WalkStep<double>& step, double* even, double* odd) {
  HWY_DYNAMIC_DISPATCH(symmetric_double)(step, even, odd);
}
void walk_step(const WalkStep<float>& step) {
  HWY_DYNAMIC_DISPATCH(step_float)(step);
}
void walk_step(const WalkStep<double>& step) {
  HWY_DYNAMIC_DISPATCH(step_double)(step);
}
void walk_product(const float* a, const float* b, const int32_t* rows, int64_t count, double* sum) {
  HWY_DYNAMIC_DISPATCH(product_float)(a, b, rows, count, sum);
}
void walk_product(const double* a, const double* b, const int32_t* rows, int64_t count, double* sum) {
  HWY_DYNAMIC_DISPATCH(product_double)(a, b, rows, count, sum);
}

}  // namespace geosft
#endif
