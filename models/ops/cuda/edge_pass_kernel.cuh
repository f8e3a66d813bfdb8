// SPDX-License-Identifier: Apache-2.0
// The skeleton of kernels that run over the edges of each row, or of each column: one channel of a row per thread, so
// that the threads of a row read whole rows. Indices out of range are clamped: the result is then wrong, but no access
// is out of bounds.
#pragma once

#include "geometry/cuda/block.h"
#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

// Rows of `width` channels, whose edges are the entries ptr[i] … ptr[i + 1] - 1 of `edges`.
struct EdgeRows {
  const int64_t* ptr;
  int64_t count, edges, width;
};

inline constexpr int kEdgeThreads = 256;

inline int64_t edge_blocks(int64_t rows, int64_t width) {
  return (rows * width + kEdgeThreads - 1) / kEdgeThreads;
}

// For each element of the rows: constructs Pass(in, at) with the index of the element, calls add(in, entry, channel)
// for every entry of its row in order, then end(in, at). Pass::rows(in) are the rows.
template <class Pass>
class EdgePassTile {
 public:
  static constexpr int kBlockThreads = kEdgeThreads;
  struct Tiles {};
  using Arguments = typename Pass::Arguments;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    block.each([&](int thread) {
      const EdgeRows rows = Pass::rows(in);
      const int64_t at = block.x() * kBlockThreads + thread;
      if (at >= rows.count * rows.width) return;
      const int64_t row = at / rows.width, channel = at % rows.width;
      const int64_t begin = clamped(rows.ptr[row], 0, rows.edges), end = clamped(rows.ptr[row + 1], begin, rows.edges);
      Pass pass(in, at);
      for (int64_t n = begin; n < end; ++n) pass.add(in, n, channel);
      pass.end(in, at);
    });
  }
};

}  // namespace geosft::cuda
