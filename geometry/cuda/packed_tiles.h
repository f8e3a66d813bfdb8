// SPDX-License-Identifier: Apache-2.0
// Maps blocks to tiles of packed rows on the device. The host never reads `ptr`, so an operator can be captured in a
// CUDA graph.
#pragma once

#include <cstdint>

#include "geometry/cuda/block.h"

namespace geosft::cuda {

// Packed rows [rows, …]: item b has the rows ptr[b] … ptr[b + 1] - 1; without ptr, all rows are one item. Values of ptr
// out of range are clamped: the result is then wrong, but no access is out of bounds.
struct PackedRows {
  const int64_t* ptr;
  int64_t items, rows;
};

struct RowRange {
  int64_t begin, end;
};

// Rows begin … end - 1 of an item, at most one tile; empty for a block without work.
struct PackedTile {
  int64_t item, begin, end;
  int64_t item_begin;
};

GEOSFT_DEVICE int64_t clamped(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : (value > high ? high : value);
}

GEOSFT_DEVICE RowRange item_rows(const PackedRows& packed, int64_t item) {
  if (!packed.ptr) return {0, packed.rows};
  const int64_t begin = clamped(packed.ptr[item], 0, packed.rows);
  return {begin, clamped(packed.ptr[item + 1], begin, packed.rows)};
}

// Returns the number of blocks of a batch. The blocks of an item that begins at row p start at p / tile + item. That
// leaves enough blocks for its tiles before those of the next item, since floor((p + n) / tile) + 1 >= floor(p / tile)
// + ceil(n / tile). The number of blocks does not depend on ptr.
inline int64_t tile_blocks(int64_t rows, int64_t items, int64_t tile) {
  return rows / tile + items;
}

GEOSFT_DEVICE int64_t first_block(const PackedRows& packed, int64_t tile, int64_t item) {
  return item_rows(packed, item).begin / tile + item;
}

// Returns the tile of a block, in the last item whose blocks begin at or before it. Empty if ptr does not begin with 0
// and the block comes before all items, so a tile never has rows outside its item.
GEOSFT_DEVICE PackedTile packed_tile(const PackedRows& packed, int64_t tile, int64_t block) {
  int64_t item = 0;
  for (int64_t end = packed.items; end - item > 1;) {
    const int64_t middle = item + (end - item) / 2;
    if (first_block(packed, tile, middle) <= block) {
      item = middle;
    } else {
      end = middle;
    }
  }
  const RowRange rows = item_rows(packed, item);
  const int64_t first = first_block(packed, tile, item);
  if (block < first) return {item, rows.end, rows.end, rows.begin};
  const int64_t begin = rows.begin + (block - first) * tile;
  const int64_t end = begin + tile < rows.end ? begin + tile : rows.end;
  return {item, begin, end, rows.begin};
}

}  // namespace geosft::cuda
