// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sparse_masks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/device_offsets.h"
#include "geometry/knn.h"
#include "geometry/packed.h"
#include "models/ops/primal_heads.h"

namespace geosft {
namespace {

struct MaskBuilder {
  std::vector<int64_t> rowptr{0}, col;

  void end_row() { rowptr.push_back(static_cast<int64_t>(col.size())); }
  SparseMask mask() const { return {at::tensor(rowptr, at::kLong), at::tensor(col, at::kLong)}; }
};

// see(builder, i, begin, end) appends the keys of token i of the item [begin, end).
template <class See>
SparseMask mask_of_items(const std::vector<int64_t>& offsets, const See& see) {
  MaskBuilder builder;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    for (int64_t i = offsets[b]; i < offsets[b + 1]; ++i) {
      see(builder, i, offsets[b], offsets[b + 1]);
      builder.end_row();
    }
  }
  return builder.mask();
}

void append_range(std::vector<int64_t>& col, int64_t begin, int64_t end) {
  const auto size = static_cast<int64_t>(col.size());
  col.resize(static_cast<size_t>(size + std::max<int64_t>(end - begin, 0)));
  std::iota(col.begin() + size, col.end(), begin);
}

// Sorts the last row and removes duplicates.
void tidy_row(MaskBuilder& builder) {
  const auto first = builder.col.begin() + builder.rowptr.back();
  std::sort(first, builder.col.end());
  builder.col.erase(std::unique(first, builder.col.end()), builder.col.end());
}

// Builds a mask on a GPU from all its entries at once: row * columns + column in ascending order; only the first of
// equal entries is valid.
SparseMask mask_there(const at::Tensor& rowptr, const at::Tensor& entries, int64_t columns) {
  const at::Tensor fresh = at::constant_pad_nd(entries.diff().ne(0), {entries.size(0) > 0 ? 1 : 0, 0}, 1);
  const at::Tensor col = entries.remainder(columns);
  return {rowptr, at::where(fresh, col, col.bitwise_not())};
}

SparseMask neighbour_mask_there(const at::Tensor& rowptr, const at::Tensor& col) {
  const int64_t tokens = rowptr.size(0) - 1, width = std::max<int64_t>(tokens, 1);
  const at::Tensor token = at::arange(tokens, col.options());
  const at::Tensor entries =
      at::cat({item_of_row_on_device(rowptr, col.size(0), col.device()) * width + col, token * width + token});
  return mask_there(rowptr + at::arange(tokens + 1, col.options()), std::get<0>(entries.sort()), width);
}

SparseMask pooled_mask_there(const SparseMask& mask, const PooledRows& pooled) {
  const at::Tensor group_of_token = at::repeat_interleave(offsets_tensor(pooled.groups).diff());
  const at::Tensor col = at::where(mask.col < 0, mask.col.bitwise_not(), mask.col);
  const at::Tensor group = copy_to_device(group_of_token, col.device()).index_select(0, col);
  const int64_t width = std::max<int64_t>(pooled.items.back(), 1);
  return mask_there(mask.rowptr, item_of_row_on_device(mask.rowptr, col.size(0), col.device()) * width + group, width);
}

}  // namespace

SparseMask window_mask(const std::vector<int64_t>& offsets, int64_t radius) {
  TORCH_CHECK(radius >= 0, "radius must be at least 0, not ", radius);
  return mask_of_items(offsets, [&](MaskBuilder& builder, int64_t i, int64_t begin, int64_t end) {
    append_range(builder.col, i - std::min(radius, i - begin), i + 1 + std::min(radius, end - i - 1));
  });
}

SparseMask strided_mask(const std::vector<int64_t>& offsets, int64_t given) {
  TORCH_CHECK(given >= 0, "stride must be at least 1, or 0 for the square root of the tokens, not ", given);
  return mask_of_items(offsets, [&](MaskBuilder& builder, int64_t i, int64_t begin, int64_t end) {
    const int64_t stride = given > 0 ? given : std::lround(std::sqrt(static_cast<double>(end - begin)));
    const int64_t low = i - std::min(stride - 1, i - begin), high = i + 1 + std::min(stride - 1, end - i - 1);
    for (int64_t j = begin + (i - begin) % stride; j < low; j += stride) builder.col.push_back(j);
    append_range(builder.col, low, high);
    for (int64_t steps = 1; steps <= (end - 1 - i) / stride; ++steps) builder.col.push_back(i + steps * stride);
  });
}

SparseMask block_mask(const std::vector<int64_t>& offsets, int64_t size) {
  TORCH_CHECK(size >= 1, "size must be at least 1, not ", size);
  return mask_of_items(offsets, [&](MaskBuilder& builder, int64_t i, int64_t begin, int64_t end) {
    const int64_t first = i - (i - begin) % size;
    append_range(builder.col, first, first + std::min(size, end - first));
  });
}

SparseMask sequence_mask(MaskKind kind, int64_t size, const std::vector<int64_t>& offsets) {
  if (kind == MaskKind::window) return window_mask(offsets, size);
  if (kind == MaskKind::strided) return strided_mask(offsets, size);
  return kind == MaskKind::block ? block_mask(offsets, size) : SparseMask();
}

SparseMask nearest_mask(const at::Tensor& points, const std::optional<at::Tensor>& ptr, int64_t count) {
  const at::Tensor nearest = std::get<0>(std::get<0>(knn(points, points, count, ptr, ptr)).sort(1));
  // A row of a smaller item begins with unused places.
  const int64_t columns = nearest.size(1);
  const at::Tensor sizes = offsets_tensor(packed_offsets(ptr, points.size(0), "ptr")).diff();
  const at::Tensor taken = sizes.clamp_max(columns).repeat_interleave(sizes);
  SparseMask mask{copy_to_device(at::constant_pad_nd(taken.cumsum(0), {1, 0}), points.device()), nearest.flatten()};
  if (taken.eq(columns).all().item<bool>()) return mask;
  const at::Tensor there = at::arange(columns) >= columns - taken.unsqueeze(1);
  mask.col = mask.col.index_select(0, copy_to_device(there.flatten().nonzero().squeeze(1), points.device()));
  return mask;
}

SparseMask neighbour_mask(const at::Tensor& rowptr, const at::Tensor& col, const std::vector<int64_t>& offsets) {
  TORCH_CHECK(rowptr.size(0) == offsets.back() + 1, "rowptr must have an entry more than there are tokens, ",
              offsets.back() + 1, ", got ", rowptr.size(0));
  if (!col.is_cpu()) return neighbour_mask_there(rowptr, col);
  const at::Tensor rows = rowptr.contiguous(), columns = col.contiguous();
  const int64_t *begin_of = rows.const_data_ptr<int64_t>(), *to = columns.const_data_ptr<int64_t>();
  return mask_of_items(offsets, [&](MaskBuilder& builder, int64_t i, int64_t begin, int64_t end) {
    for (int64_t e = begin_of[i]; e < begin_of[i + 1]; ++e) {
      TORCH_CHECK(to[e] >= begin && to[e] < end, "col must stay in the item: token ", i, " has an edge to ", to[e],
                  ", expected ", begin, " to ", end - 1);
      builder.col.push_back(to[e]);
    }
    builder.col.push_back(i);
    tidy_row(builder);
  });
}

SparseMask pooled_mask(const SparseMask& mask, const std::vector<int64_t>& offsets, int64_t factor) {
  const PooledRows pooled(offsets, factor);
  if (!mask.col.is_cpu()) return pooled_mask_there(mask, pooled);
  const int64_t *rowptr = mask.rowptr.const_data_ptr<int64_t>(), *col = mask.col.const_data_ptr<int64_t>();
  size_t item = 0;
  return mask_of_items(offsets, [&](MaskBuilder& builder, int64_t i, int64_t begin, int64_t) {
    while (offsets[item + 1] <= i) ++item;
    for (int64_t e = rowptr[i]; e < rowptr[i + 1]; ++e) {
      builder.col.push_back(pooled.items[item] + (col[e] - begin) / factor);
    }
    tidy_row(builder);
  });
}

}  // namespace geosft
