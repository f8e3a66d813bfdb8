// SPDX-License-Identifier: Apache-2.0
// Defines the arrays and sizes that the kernels of polynomial_attention read, contiguous and checked, and finds on the
// device the item that a block works on. As on the CPU, forward and backward are one computation between two sets of
// tokens, rows and columns, each with x and y (Y stands for y and one further column):
//   value_i = sum_j T_g(x_i . x'_j) y'_j,   gradient_i = sum_j T_{g-1}(x_i . x'_j) (Y_i . Y'_j) x'_j
// Forward is the value of queries from keys with Y' = [1, v]. Backward, with Y = [-rho, G] / denominator of the
// queries, is the query gradient from keys, and value and gradient of the keys from queries.
#pragma once

#include "models/ops/cuda/paired_rows.h"

namespace geosft::cuda {

// x [N, heads, c] is multiplied by `factor`, so that the product of a row and a column is the scaled score; y [N,
// heads, cv]; `further` is column 0 of Y [N, heads], null for ones.
template <typename T>
struct PolynomialTokens {
  Accessor<const T> x;
  T factor;
  const T* further;
  Accessor<const T> y;
  PackedRows rows;
};

// Columns that a row is paired with: all of its item, those up to its position, or those from it on.
enum class Reach { kAll, kBefore, kAfter };

// Maximum entries of a table of monomials, and maximum factors of a monomial.
inline constexpr int kSmallTable = 20, kMediumTable = 48, kLargestTable = 132, kMaxFactors = 16;

// The `count` monomials of c variables of degree at most `degree`, in the order of MonomialBasis. The first `entries`,
// of degree at most table_degree, are computed for each token: the constant, the variables, and products of two entries
// given by `recipe` [entries, 2]. The others are products of `factors` entries (2, 4, 8 or 16), whose indices are in
// `factor` [count, factors]: a monomial of degree t > table_degree has its last table_degree channels as its last
// factor and the others, in pieces of table_degree, before it (0, the constant, if there are fewer). Monomials with the
// same first factors are thus neighbours, a run, and their last factors are consecutive entries up to the last one.
// weight [count]: 1 / a!.
template <typename T>
struct MonomialTable {
  int c;
  int64_t degree, count;
  int table_degree, entries, factors;
  uint8_t* recipe;
  uint8_t* factor;
  T* weight;
};

// Decides which items are computed by monomials rather than pair by pair. Costs are operations per pair of rows (for a
// block's rows as if it were full), and for monomials per row (as if the tile were full) and per column. They are
// integers, because the host and the device must agree. pair = 0: no item is computed by monomials.
struct PolynomialCosts {
  int64_t pair, row, column;
  int64_t tile;
  static constexpr int64_t kMinRows = 16;  // minimum columns, regardless of cost

  GEOSFT_DEVICE bool worth_monomials(int64_t rows, int64_t columns) const {
    constexpr int64_t kMost = int64_t{1} << 22;  // clamped: more rows never change the result, and nothing overflows
    if (rows == 0 || columns < kMinRows) return false;
    const int64_t some_rows = rows < kMost ? rows : kMost, some_columns = columns < kMost ? columns : kMost;
    const int64_t paired = (some_rows + kThreads - 1) / kThreads * kThreads,
                  tiled = (some_rows + tile - 1) / tile * tile;
    return paired * some_columns * pair > tiled * row + some_columns * column;
  }
};

// Places of the chunks of at most `rows` rows that items computed by monomials are split into: the chunks of an item
// that begins at row p have the places from p / spacing on. Such an item has at least `spacing` rows and spacing <=
// rows / 2, or there is only one item. Its places therefore end before those of the next: floor((p + n) / spacing) >=
// floor(p / spacing) + ceil(n / rows).
struct ChunkPlaces {
  int64_t rows, spacing;

  int64_t count(const PackedRows& packed) const { return packed.rows / spacing + 1; }
};

// Work split of a block that sums over tokens: each of `groups` threads has 4 monomials, and the kSumThreads / groups
// threads with the same monomials split the tokens, `step` of which are in shared memory at a time. `tiles` blocks
// cover all monomials.
struct SumLayout {
  int groups;
  int64_t tiles;
  int step;
};

// Results are null if not requested: value [N, heads, cv], divided by denominator [N, heads] (the value of the further
// column) if that is given; gradient [N, heads, c] of the rows' x before its factor.
template <typename T>
struct PolynomialTask {
  PolynomialTokens<T> row_tokens, column_tokens;
  int64_t heads;
  int c, cv;
  int64_t degree;
  Reach reach;
  T* value;
  T* denominator;
  T* gradient;

  PolynomialCosts costs;
  ChunkPlaces chunks;  // of column tokens; a chunk is a multiple of the tile of rows
  SumLayout sums;
  MonomialTable<T> table;
  T* states;  // [places of chunks, heads, table.count, cv + 1]: sums of monomials times Y'

  PairPart part() const { return denominator ? PairPart::kValue : (value ? PairPart::kBoth : PairPart::kGradient); }
};

// The stages of a task, each with its own grids (polynomial_kernels.cuh): the table, which the tasks of one call share;
// the states; the rows that are evaluated against states; the pairs.
struct MonomialTableStage {};
struct MonomialSumStage {};
struct MonomialStage {};
struct PairStage {};

// Launch arguments of one stage of a task: see launch_kernels.
template <class Stage, typename T>
struct PolynomialStageCall {
  Stage stage;
  PolynomialTask<T> task;
};

// Returns the only item that may have a chunk at this place: the last whose places begin at or before it (see
// ChunkPlaces).
GEOSFT_DEVICE int64_t item_at(const PackedRows& packed, const ChunkPlaces& places, int64_t place) {
  int64_t item = 0;
  for (int64_t end = packed.items; end - item > 1;) {
    const int64_t middle = item + (end - item) / 2;
    if (item_rows(packed, middle).begin / places.spacing <= place) {
      item = middle;
    } else {
      end = middle;
    }
  }
  return item;
}

GEOSFT_DEVICE int64_t row_count(const RowRange& rows) {
  return rows.end - rows.begin;
}

template <typename T>
GEOSFT_DEVICE bool by_monomials(const PolynomialTask<T>& task, int64_t item) {
  return task.costs.worth_monomials(row_count(item_rows(task.row_tokens.rows, item)),
                                    row_count(item_rows(task.column_tokens.rows, item)));
}

GEOSFT_DEVICE int64_t chunk_count(const RowRange& rows, const ChunkPlaces& places) {
  return (row_count(rows) + places.rows - 1) / places.rows;
}

// A chunk of column tokens: its index in the item, and its rows; empty if no item computed by monomials has a chunk
// here.
struct Chunk {
  int64_t item, number;
  RowRange rows;
};
template <typename T>
GEOSFT_DEVICE Chunk chunk_at(const PolynomialTask<T>& task, int64_t place) {
  const ChunkPlaces& places = task.chunks;
  const int64_t item = item_at(task.column_tokens.rows, places, place);
  const RowRange rows = item_rows(task.column_tokens.rows, item);
  const int64_t number = place - rows.begin / places.spacing, begin = rows.begin + number * places.rows;
  if (number < 0 || begin >= rows.end || !by_monomials(task, item)) return {item, number, {0, 0}};
  return {item, number, {begin, begin + places.rows < rows.end ? begin + places.rows : rows.end}};
}

// Returns a tile of rows of an item computed by monomials; it is empty for a block without work.
template <typename T>
GEOSFT_DEVICE PackedTile monomial_tile(const PolynomialTask<T>& task, int64_t block) {
  PackedTile tile = packed_tile(task.row_tokens.rows, task.costs.tile, block);
  if (tile.begin < tile.end && !by_monomials(task, tile.item)) tile.end = tile.begin;
  return tile;
}

// Returns the place of the state for a tile of rows: the sum over all column tokens or over the chunks before or after
// it, or -1 if there are no such chunks.
template <typename T>
GEOSFT_DEVICE int64_t state_place(const PolynomialTask<T>& task, const PackedTile& rows) {
  const RowRange columns = item_rows(task.column_tokens.rows, rows.item);
  const int64_t first = columns.begin / task.chunks.spacing, last = chunk_count(columns, task.chunks) - 1;
  if (task.reach == Reach::kAll) return first;
  // Wrong offsets may lead to more chunks than there are columns.
  const int64_t number = clamped((rows.begin - rows.item_begin) / task.chunks.rows, 0, last);
  const bool none = number == (task.reach == Reach::kBefore ? 0 : last);
  return none ? -1 : first + number;
}

}  // namespace geosft::cuda
