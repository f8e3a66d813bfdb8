// SPDX-License-Identifier: Apache-2.0
// Converts the mask of primal_attention on a device, by queries and by keys.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

#include "models/ops/cuda/primal_arrays.h"

namespace geosft::cuda {

struct MaskSizes {
  int64_t queries, keys, heads;  // keys: pooled rows of each head
};

// A mask by queries or by keys; undefined without a mask.
struct MaskTensors {
  at::Tensor rowptr, col;
  int64_t step = 0;  // from head to head; 0 if all heads share the mask

  PrimalMaskRows rows() const {
    if (!rowptr.defined()) return {nullptr, nullptr, 0, 0};
    return {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int64_t>(), col.size(0), step};
  }
};

// The mask as given.
inline MaskTensors query_mask(const at::Tensor& rowptr, const at::Tensor& col, const MaskSizes& sizes) {
  return {rowptr.contiguous(), col.contiguous(), rowptr.size(0) == sizes.queries + 1 ? 0 : sizes.queries};
}

// Lists for each key the queries that attend to it, in ascending order. Entries whose column is not a key are sorted
// behind all keys.
inline MaskTensors key_mask(const MaskTensors& given, const MaskSizes& sizes) {
  if (!given.rowptr.defined()) return {};
  const bool a_head = given.step > 0;
  const int64_t copies = a_head ? sizes.heads : 1, queries = std::max<int64_t>(sizes.queries, 1);
  const at::Tensor& col = given.col;
  const at::Tensor entry = at::arange(col.size(0), col.options());
  const at::Tensor row =
      (at::searchsorted(given.rowptr, entry, /*out_int32=*/false, /*right=*/true) - 1).clamp(0, copies * queries - 1);
  const at::Tensor key =
      at::where((col >= 0).logical_and(col < sizes.keys), row.floor_divide(queries) * sizes.keys + col,
                at::full_like(col, copies * sizes.keys));
  const auto [sorted, order] = key.sort(/*stable=*/true, 0, false);
  const at::Tensor bounds = at::arange(copies * sizes.keys + 1, col.options());
  return {at::searchsorted(sorted, bounds), row.remainder(queries).index_select(0, order), a_head ? sizes.keys : 0};
}

}  // namespace geosft::cuda
