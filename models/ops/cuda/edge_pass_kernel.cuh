// SPDX-License-Identifier: Apache-2.0
// The skeleton of kernels that run over the edges of each row, or of each column: one channel of a row per thread, so
// that the threads of a row read whole rows. Indices out of range are clamped: the result is then wrong, but no access
// is out of bounds.
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

// Rows of `width` channels, whose edges are the entries ptr[i] … ptr[i + 1] - 1 of `edges`.
struct EdgeRows {
  const int64_t* ptr;
  int64_t count, edges, width;
};

// A call that, for each element of the rows, constructs Pass(in, at) with the index of the element, calls
// add(in, entry, channel) for every entry of its row in order, then end(in, at). Pass::rows(in) are the rows.
template <class Pass>
struct EdgePass {
  typename Pass::Arguments in;

  GEOSFT_HOST_DEVICE int64_t elements() const {
    const EdgeRows rows = Pass::rows(in);
    return rows.count * rows.width;
  }
  GEOSFT_DEVICE void compute(int64_t at) const {
    const EdgeRows rows = Pass::rows(in);
    const int64_t row = at / rows.width, channel = at % rows.width;
    const int64_t begin = clamped(rows.ptr[row], 0, rows.edges), end = clamped(rows.ptr[row + 1], begin, rows.edges);
    Pass pass(in, at);
    for (int64_t n = begin; n < end; ++n) pass.add(in, n, channel);
    pass.end(in, at);
  }
};

template <class Pass, class Run>
void edge_grid(const typename Pass::Arguments& in, Run&& run) {
  element_grid(EdgePass<Pass>{in}, run);
}

}  // namespace geosft::cuda
