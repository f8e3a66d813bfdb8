// SPDX-License-Identifier: Apache-2.0
// The mask of primal_attention on a device, by queries and by keys.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

#include "models/ops/cuda/primal_arrays.h"

namespace geosft::cuda {

struct MaskSizes {
  int64_t queries, keys, heads;  // keys: pooled rows of each head
};

// rowptr and col by queries as given, and by keys: each has the queries that see it, in rising order. Undefined without
// a mask.
struct MaskTensors {
  at::Tensor rowptr, col, key_rowptr, key_col;
  int64_t query_step = 0, key_step = 0;  // from head to head, 0: one for all

  PrimalMaskRows queries() const { return rows(rowptr, col, query_step); }
  PrimalMaskRows keys() const { return rows(key_rowptr, key_col, key_step); }

 private:
  static PrimalMaskRows rows(const at::Tensor& rowptr, const at::Tensor& col, int64_t step) {
    if (!rowptr.defined()) return {nullptr, nullptr, 0, 0};
    return {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int64_t>(), col.size(0), step};
  }
};

// Entries whose columns are no keys, which no query sees, stand with the nearest key and are of no item of it.
inline MaskTensors primal_mask_rows(const at::Tensor& rowptr_in, const at::Tensor& col_in, const MaskSizes& sizes) {
  const at::Tensor rowptr = rowptr_in.contiguous(), col = col_in.contiguous();
  const bool a_head = rowptr.size(0) != sizes.queries + 1;
  const int64_t copies = a_head ? sizes.heads : 1, queries = std::max<int64_t>(sizes.queries, 1);
  const at::Tensor entry = at::arange(col.size(0), col.options());
  const at::Tensor row =
      (at::searchsorted(rowptr, entry, /*out_int32=*/false, /*right=*/true) - 1).clamp(0, copies * queries - 1);
  const at::Tensor key = row.floor_divide(queries) * sizes.keys + col.clamp(0, std::max<int64_t>(sizes.keys - 1, 0));
  const auto [sorted, order] = key.sort(/*stable=*/true, 0, false);
  const at::Tensor bounds = at::arange(copies * sizes.keys + 1, col.options());
  return {rowptr,
          col,
          at::searchsorted(sorted, bounds),
          row.remainder(queries).index_select(0, order),
          a_head ? sizes.queries : 0,
          a_head ? sizes.keys : 0};
}

}  // namespace geosft::cuda
