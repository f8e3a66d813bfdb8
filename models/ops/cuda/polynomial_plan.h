// SPDX-License-Identifier: Apache-2.0
// Decides on the host how a call of polynomial_attention runs on a GPU, from sizes alone and never from values on the
// device.
#pragma once

#include <cstdint>
#include <vector>

#include "models/ops/cuda/polynomial_arrays.h"

namespace geosft::cuda {

// The table that the monomials of a call are made from: see MonomialTable.
struct TableShape {
  int table_degree, entries, factors;  // factors 0: no table will do, only pairs
};
// Two factors where a table that leaves room for several rows a thread has all that they need, else as few as can be.
// There is none for one channel and a degree above 2,096, and for two and one above 224, whose terms of the highest
// degrees, divided by their factorial, are beyond double precision.
TableShape table_shape(int64_t channels, int64_t degree);

// Items are known where q_ptr and k_ptr are on the CPU or there is one item. Otherwise both offsets are null.
struct PolynomialItems {
  const std::vector<int64_t>* own;
  const std::vector<int64_t>* other;
  int64_t items, own_rows, other_rows, heads;
};

struct PolynomialPlan {
  bool monomials, pairs;  // whether any item may go by monomials, and any row meet others pair by pair
  PolynomialCosts costs;
  ChunkPlaces chunks;
  SumLayout sums;
};
// `tile`: rows that a block of MonomialTile owns. For each head, states hold no more numbers than
// 2 (c + 3 degree + cv + 1) a row of the other side, and the state of one chunk.
PolynomialPlan polynomial_plan(const TableShape& shape, int64_t channels, int64_t degree, int64_t cv, Reach reach,
                               int64_t tile, const PolynomialItems& items);

}  // namespace geosft::cuda
