// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/polynomial_problem.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace geosft {
namespace {

constexpr int64_t kMinChunk = 1024;    // rows per chunk, so that adding up a partial accumulator stays cheap
constexpr int64_t kRowsAMonomial = 4;  // per chunk, so that partial accumulators stay small compared with the rows
constexpr int64_t kDirectChunk = 256;  // rows of a unit that is computed pair by pair
constexpr int64_t kBatchBytes = 136 << 10;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t chunk_rows(int64_t monomials) {
  return ceil_div(std::max(kMinChunk, kRowsAMonomial * monomials), kTokenBlock) * kTokenBlock;
}

// Returns whether an item of these sizes takes less work pair by pair, counted in multiply-adds.
bool pairs_are_less(int64_t query, int64_t key, int64_t cv, const MonomialBasis& basis, Reach reach) {
  const double a_pair = static_cast<double>(basis.channels + basis.degree + cv + 1) * (reach == Reach::all ? 1.0 : 0.5);
  const double a_row = static_cast<double>(basis.size()) * static_cast<double>(cv + 2);
  return static_cast<double>(query) * static_cast<double>(key) * a_pair <= static_cast<double>(query + key) * a_row;
}

void append_chunks(std::vector<PolynomialUnit>& units, int64_t pair, int64_t begin, int64_t end, int64_t chunk,
                   int64_t partial, int64_t partial_step) {
  for (int64_t row = begin; row < end; row += chunk, partial += partial_step) {
    units.push_back({pair, row, std::min(row + chunk, end), partial});
  }
}

// Appends the units of Reach::before or after: each adds the sum of a chunk to the accumulator of its neighbour. The
// chunk without a neighbour gets no unit.
void append_ordered(std::vector<PolynomialUnit>& units, int64_t pair, int64_t begin, int64_t end, int64_t chunk,
                    int64_t first_partial, Reach reach) {
  const int64_t last = begin + (ceil_div(end - begin, chunk) - 1) * chunk;
  if (reach == Reach::before) append_chunks(units, pair, begin, last, chunk, first_partial + 1, 1);
  if (reach == Reach::after) append_chunks(units, pair, begin + chunk, end, chunk, first_partial, 1);
}

void heads_together(std::vector<PolynomialUnit>& units) {
  std::stable_sort(units.begin(), units.end(),
                   [](const PolynomialUnit& a, const PolynomialUnit& b) { return a.begin < b.begin; });
}

template <typename T>
void center_item(const T* from, int64_t rows, int64_t width, T* to) {
  std::vector<double> mean(static_cast<size_t>(width), 0.0);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t t = 0; t < width; ++t) mean[t] += static_cast<double>(from[i * width + t]);
  }
  for (double& sum : mean) sum /= static_cast<double>(rows);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t t = 0; t < width; ++t) to[i * width + t] = static_cast<T>(from[i * width + t] - mean[t]);
  }
}

}  // namespace

int64_t batch_rows(int64_t monomial_bytes) {
  return std::clamp<int64_t>(kBatchBytes / monomial_bytes, 4, kPieceRows);
}

int64_t row_stride(int64_t count, int64_t lanes) {
  return (count / lanes + 1) * lanes;
}

int64_t monomial_stride(int64_t monomials, int64_t lanes) {
  return ((ceil_div(monomials, lanes) + 1) | 1) * lanes;
}

int64_t PolynomialScratch::total() const {
  return x_rows + y_rows + monomial_rows + x + y + value + gradient + monomials + slopes + weighed + 2 * tiles;
}

PolynomialScratch polynomial_scratch(const MonomialBasis& basis, int64_t columns, Reach reach, bool gradient,
                                     int64_t lanes, int64_t number_bytes) {
  const int64_t c = basis.channels, stride = monomial_stride(basis.size(), lanes);
  const int64_t parents = std::max<int64_t>(basis.parents(), 1) * kTokenBlock;
  return {.x_rows = kPieceRows * row_stride(c, lanes),
          .y_rows = kPieceRows * columns + lanes,
          .monomial_rows = batch_rows(stride * number_bytes) * stride + 2 * lanes,
          .x = c * kTokenBlock,
          .y = columns * kTokenBlock,
          .value = columns * kTokenBlock,
          .gradient = c * kTokenBlock,
          .monomials = parents,
          .slopes = gradient ? parents : 0,
          .weighed = reach == Reach::all ? 0 : ceil_div(basis.size(), lanes) * lanes * columns,
          .tiles = kTokenBlock * kTokenBlock};
}

constexpr int64_t kLargestVector = 64;  // bytes

int64_t additions_in_a_row(int64_t monomials, int64_t number_bytes) {
  const int64_t rows = batch_rows(monomial_stride(monomials, kLargestVector / number_bytes) * number_bytes);
  // Batches restart at every block of tokens with Reach::before or after, and at every piece with Reach::all.
  const auto batches = [&](int64_t span) {
    return ceil_div(chunk_rows(monomials), span) * ceil_div(span, std::min(rows, span));
  };
  return rows + std::max(batches(kTokenBlock), batches(kPieceRows));
}

PolynomialPlan polynomial_plan(const std::vector<int64_t>& query_offsets, const std::vector<int64_t>& key_offsets,
                               int64_t heads, int64_t cv, const MonomialBasis& basis, Reach reach) {
  PolynomialPlan plan;
  const int64_t chunk = chunk_rows(basis.size());
  for (size_t b = 0; b + 1 < query_offsets.size(); ++b) {
    const int64_t queries = query_offsets[b + 1] - query_offsets[b], keys = key_offsets[b + 1] - key_offsets[b];
    if (queries == 0) continue;
    const bool direct = pairs_are_less(queries, keys, cv, basis, reach);
    for (int64_t head = 0; head < heads; ++head) {
      const auto pair = static_cast<int64_t>(plan.pairs.size());
      const int64_t partials = direct ? 0 : ceil_div(keys, chunk);
      plan.pairs.push_back({static_cast<int64_t>(b), head, direct, plan.partials, partials});
      append_chunks(plan.queries, pair, query_offsets[b], query_offsets[b + 1], direct ? kDirectChunk : chunk,
                    plan.partials, direct || reach == Reach::all ? 0 : 1);
      if (direct) continue;
      if (reach == Reach::all) {
        append_chunks(plan.keys, pair, key_offsets[b], key_offsets[b + 1], chunk, plan.partials, 1);
      } else {
        append_ordered(plan.keys, pair, key_offsets[b], key_offsets[b + 1], chunk, plan.partials, reach);
      }
      plan.partials += partials;
    }
  }
  heads_together(plan.queries);
  heads_together(plan.keys);
  return plan;
}

at::Tensor centered_rows(const at::Tensor& x, const std::vector<int64_t>& offsets) {
  at::Tensor out = at::empty_like(x);
  const int64_t width = x.size(0) > 0 ? x.numel() / x.size(0) : 0;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "centered_rows", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, static_cast<int64_t>(offsets.size()) - 1, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        center_item(from + offsets[b] * width, offsets[b + 1] - offsets[b], width, to + offsets[b] * width);
      }
    });
  });
  return out;
}

}  // namespace geosft
