// SPDX-License-Identifier: Apache-2.0
// Defines the interface between the attention kernels and an attention bias. A bias is a class template over the number
// type and the side, with the members of DenseBias (dense_bias.cuh) and PointBias (point_bias.cuh). A bias may run
// block-wide steps: in `prepare`, after the rows of the other side have been loaded into shared memory, and in
// `conclude`, after their gradients have been computed. See GraphBias and SequenceBias.
#pragma once

#include "models/ops/cuda/attention_arrays.h"
#include "models/ops/cuda/tile_math.h"

namespace geosft::cuda {

// A tile computes the results of its own rows, one or more per thread, from all rows of the other side of the item. Its
// own rows are queries in the forward pass and for query gradients, keys for key gradients.
enum class Side { kQuery, kKey };

// The rows that a tile works with: its own, and all rows of the other side of their item.
struct TileRows {
  PackedTile own;
  RowRange other;

  GEOSFT_DEVICE int own_count() const { return static_cast<int>(own.end - own.begin); }
};

template <Side kSide, typename T>
GEOSFT_DEVICE TileRows tile_rows(const AttentionArrays<T>& p, int64_t tile, int64_t slot) {
  const PackedTile own = packed_tile(kSide == Side::kQuery ? p.queries : p.keys, tile, slot);
  return {own, item_rows(kSide == Side::kQuery ? p.keys : p.queries, own.item)};
}

// A pair of rows: `own` counts from the tile's first own row, `other` from the first of the other side's rows that are
// in shared memory, which is row `other_begin` of the batch. A pair that is not `inside` has a row past the end and
// contributes nothing.
struct Pair {
  int own, other;
  int64_t other_begin;
  bool inside;
};

// The bias of a pair of rows: its score is multiplied by mul, and add is added. slope is the derivative of the softplus
// that gives mul, if mul is computed by one.
template <typename T>
struct BiasValue {
  T mul, add, slope;
};

// Calls body(arrays) once, for a bias whose gradients take one backward pass per side.
struct OnePass {
  template <Side kSide, class Arrays, class Body>
  static void each_pass(const Arrays& arrays, const Body& body) {
    body(arrays);
  }
};

// Loads rows `first` … `first + count - 1` of source [rows, stride], `width` numbers each from column `column` on, into
// a tile of whole Vec4. The rest is set to zeros, which add nothing to a sum of maxima or products. Loads are unrolled
// by two: more in flight would take registers from the sums.
template <typename T, int Rows, int Stride>
GEOSFT_DEVICE void load_rows(Vec4<T> (&tile)[Rows][Stride], int padded, const Accessor<const T>& source, int64_t first,
                             int count, int64_t stride, int64_t column, int width, int thread) {
  source.visit([&](const auto* numbers) {
    GEOSFT_UNROLL_TWO
    for (int i = thread; i < Rows * padded; i += kThreads) {
      const int row = i / padded, channel = i % padded;
      const bool there = row < count && channel < width;
      tile[row][channel / 4].v[channel % 4] =
          there ? widened(numbers[(first + row) * stride + column + channel]) : T(0);
    }
  });
}

// Writes a thread's row, times `factor`, to elements `first` … `first + width - 1`.
template <typename T, int Chunks>
GEOSFT_DEVICE void store_row(const Vec4<T> (&row)[Chunks], T factor, const Accessor<T>& to, int64_t first, int width) {
  to.visit([&](auto* numbers) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < Chunks; ++chunk) {
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) {
        if (chunk * 4 + t < width) round_to(numbers[first + chunk * 4 + t], row[chunk].v[t] * factor);
      }
    }
  });
}

}  // namespace geosft::cuda
