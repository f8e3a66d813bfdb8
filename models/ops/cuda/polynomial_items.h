// SPDX-License-Identifier: Apache-2.0
// Finds on the device the item that a block of polynomial_attention works on.
#pragma once

#include "models/ops/cuda/polynomial_arrays.h"

namespace geosft::cuda {

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
  return task.costs.worth_monomials(row_count(item_rows(task.own.rows, item)),
                                    row_count(item_rows(task.other.rows, item)));
}

GEOSFT_DEVICE int64_t chunk_count(const RowRange& rows, const ChunkPlaces& places) {
  return (row_count(rows) + places.rows - 1) / places.rows;
}

// A chunk of other rows: its index in the item, and its rows; empty if no item computed by monomials has a chunk here.
struct Chunk {
  int64_t item, number;
  RowRange rows;
};
template <typename T>
GEOSFT_DEVICE Chunk chunk_at(const PolynomialTask<T>& task, int64_t place) {
  const ChunkPlaces& places = task.chunks;
  const int64_t item = item_at(task.other.rows, places, place);
  const RowRange rows = item_rows(task.other.rows, item);
  const int64_t number = place - rows.begin / places.spacing, begin = rows.begin + number * places.rows;
  if (number < 0 || begin >= rows.end || !by_monomials(task, item)) return {item, number, {0, 0}};
  return {item, number, {begin, begin + places.rows < rows.end ? begin + places.rows : rows.end}};
}

// Returns a tile of own rows of an item computed by monomials; it is empty for a slot without work.
template <typename T>
GEOSFT_DEVICE PackedTile monomial_tile(const PolynomialTask<T>& task, int64_t slot) {
  PackedTile tile = packed_tile(task.own.rows, task.costs.tile, slot);
  if (tile.begin < tile.end && !by_monomials(task, tile.item)) tile.end = tile.begin;
  return tile;
}

// Returns the place of the state for a tile of own rows: the sum over all other rows or over the chunks before or after
// its own, or -1 if there are no such chunks.
template <typename T>
GEOSFT_DEVICE int64_t state_place(const PolynomialTask<T>& task, const PackedTile& own) {
  const RowRange other = item_rows(task.other.rows, own.item);
  const int64_t first = other.begin / task.chunks.spacing, last = chunk_count(other, task.chunks) - 1;
  if (task.reach == Reach::kAll) return first;
  // Wrong offsets may lead to more chunks than the other side has.
  const int64_t number = clamped((own.begin - own.item_begin) / task.chunks.rows, 0, last);
  const bool none = number == (task.reach == Reach::kBefore ? 0 : last);
  return none ? -1 : first + number;
}

}  // namespace geosft::cuda
