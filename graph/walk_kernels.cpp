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

// At most one row of numbers.
template <typename T>
using Lanes = hn::CappedTag<T, 64 / sizeof(T)>;
template <typename T>
constexpr int64_t columns = 64 / sizeof(T);

// So many rows are summed in T before the sum goes on in double.
constexpr int64_t chunk_rows = 256;

template <bool weighted, typename T>
HWY_INLINE hn::Vec<Lanes<T>> gather(const WalkStep<T>& step, int64_t row, int64_t column) {
  const Lanes<T> d;
  const T* from = step.from + column;
  const auto load = [&](int64_t e) {
    const auto value = hn::Load(d, from + step.neighbour[e] * columns<T>);
    if constexpr (weighted) return hn::Mul(value, hn::Set(d, step.weight[e]));
    return value;
  };
  auto sum = hn::Zero(d);
  for (int64_t e = step.begin[row]; e < step.begin[row + 1]; e += 4) {
    sum = hn::Add(sum, hn::Add(hn::Add(load(e), load(e + 1)), hn::Add(load(e + 2), load(e + 3))));
  }
  return sum;
}

template <typename T>
HWY_INLINE void add_lanes(hn::Vec<Lanes<T>> sums, int64_t column, double* to) {
  const Lanes<T> d;
  HWY_ALIGN T values[columns<T>];
  hn::Store(sums, d, values);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) to[column + lane] += static_cast<double>(values[lane]);
}

template <bool weighted, typename T>
void symmetric_chunk(const WalkStep<T>& step, const int32_t* rows, int64_t count, int64_t column, double* even,
                     double* odd) {
  const Lanes<T> d;
  auto even_sum = hn::Zero(d), odd_sum = hn::Zero(d);
  for (int64_t r = 0; r < count; ++r) {
    const int64_t row = rows[r], at = row * columns<T> + column;
    const auto sum = gather<weighted>(step, row, column);
    const auto next = hn::Mul(sum, hn::Set(d, step.inverse_degree[row]));
    hn::Store(next, d, step.to + at);
    even_sum = hn::MulAdd(sum, next, even_sum);
    odd_sum = hn::MulAdd(sum, hn::Load(d, step.from + at), odd_sum);
  }
  add_lanes<T>(even_sum, column, even);
  add_lanes<T>(odd_sum, column, odd);
}

// Calls body(rows, count, column) for chunks of the rows and, within a chunk, for vectors of the columns.
template <typename T, class Body>
HWY_INLINE void for_chunks(const int32_t* rows, int64_t count, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Lanes<T>()));
  for (int64_t begin = 0; begin < count; begin += chunk_rows) {
    const int64_t size = std::min(chunk_rows, count - begin);
    for (int64_t column = 0; column < columns<T>; column += lanes) body(rows + begin, size, column);
  }
}

template <typename T>
void symmetric_any(const WalkStep<T>& step, double* even, double* odd) {
  for_chunks<T>(step.rows, step.count, [&](const int32_t* rows, int64_t count, int64_t column) {
    if (step.weight == nullptr) return symmetric_chunk<false>(step, rows, count, column, even, odd);
    symmetric_chunk<true>(step, rows, count, column, even, odd);
  });
}

template <typename T>
void step_any(const WalkStep<T>& step) {
  for_chunks<T>(step.rows, step.count, [&](const int32_t* rows, int64_t count, int64_t column) {
    const Lanes<T> d;
    for (int64_t r = 0; r < count; ++r) {
      hn::Store(gather<true>(step, rows[r], column), d, step.to + rows[r] * columns<T> + column);
    }
  });
}

template <typename T>
void product_any(const T* a, const T* b, const int32_t* all_rows, int64_t all_count, double* sum) {
  for_chunks<T>(all_rows, all_count, [&](const int32_t* rows, int64_t count, int64_t column) {
    const Lanes<T> d;
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
