// SPDX-License-Identifier: Apache-2.0
// Decides on the host how a call of polynomial_attention runs on a GPU, from sizes alone and never from values on the
// device.
#pragma once

#include <cstdint>
#include <vector>

#include "models/ops/cuda/polynomial_arrays.h"

namespace geosft::cuda {

// The table that the monomials of a call are computed from: see MonomialTable.
struct TableShape {
  int table_degree, entries, factors;  // factors 0: no table fits, use pairs only
};
// Chooses two factors if a table that leaves room for several rows per thread allows it, otherwise as few as possible.
// No table fits for one channel and a degree above 2,096, and for two channels and one above 224; their terms of the
// highest degrees, divided by their factorial, are beyond double precision.
TableShape table_shape(int64_t channels, int64_t degree);

// Items are known if q_ptr and k_ptr are on the CPU or there is one item. Otherwise both offsets are null.
struct PolynomialItems {
  const std::vector<int64_t>* own;
  const std::vector<int64_t>* other;
  int64_t items, own_rows, other_rows, heads;
};

struct PolynomialPlan {
  bool monomials, pairs;  // whether any item may be computed by monomials, and any row pair by pair
  PolynomialCosts costs;
  ChunkPlaces chunks;
  SumLayout sums;
};
// `tile`: own rows per block of MonomialTile. For each head, states hold at most 2 (c + 3 degree + cv + 1) numbers per
// row of the other side, and the state of one chunk.
PolynomialPlan polynomial_plan(const TableShape& shape, int64_t channels, int64_t degree, int64_t cv, Reach reach,
                               int64_t tile, const PolynomialItems& items);

}  // namespace geosft::cuda
