// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sparse_masks.h"

#include <algorithm>
#include <numeric>

#include "geometry/copied_to.h"
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

// see(builder, i, begin, end) appends what token i of the item [begin, end) sees.
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

// The row of every entry.
at::Tensor rows_of(const at::Tensor& rowptr, int64_t entries) {
  const at::Tensor row = at::arange(rowptr.size(0) - 1, rowptr.options());
  return at::repeat_interleave(row, rowptr.diff(), 0, entries);
}

// Entries row * columns + column in rising order, without those that are as the one before.
SparseMask without_repetitions(const at::Tensor& rowptr, const at::Tensor& entries, int64_t columns) {
  const at::Tensor fresh = at::constant_pad_nd(entries.diff().ne(0), {entries.size(0) > 0 ? 1 : 0, 0}, 1);
  const at::Tensor col = entries.remainder(columns);
  if (!entries.is_cpu()) return {rowptr, at::where(fresh, col, -1)};
  const at::Tensor left = at::constant_pad_nd(fresh.cumsum(0), {1, 0});
  return {left.index_select(0, rowptr), col.masked_select(fresh)};
}

// An error for an edge that leaves its item.
void check_edges(const at::Tensor& row, const at::Tensor& col, const std::vector<int64_t>& offsets) {
  const at::Tensor item = item_of_row(offsets).index_select(0, row), bounds = offsets_tensor(offsets);
  const at::Tensor begin = bounds.index_select(0, item), end = bounds.index_select(0, item + 1);
  const at::Tensor wrong = (col < begin).logical_or(col >= end).nonzero();
  if (wrong.size(0) == 0) return;
  const auto of_first = [&](const at::Tensor& values) { return values[wrong[0].item<int64_t>()].item<int64_t>(); };
  TORCH_CHECK(false, "col must stay in the item: token ", of_first(row), " has an edge to ", of_first(col),
              ", expected ", of_first(begin), " to ", of_first(end) - 1);
}

}  // namespace

SparseMask window_mask(const std::vector<int64_t>& offsets, int64_t radius) {
  TORCH_CHECK(radius >= 0, "radius must be at least 0, not ", radius);
  return mask_of_items(offsets, [&](MaskBuilder& builder, int64_t i, int64_t begin, int64_t end) {
    append_range(builder.col, i - std::min(radius, i - begin), i + 1 + std::min(radius, end - i - 1));
  });
}

SparseMask strided_mask(const std::vector<int64_t>& offsets, int64_t stride) {
  TORCH_CHECK(stride >= 1, "stride must be at least 1, not ", stride);
  return mask_of_items(offsets, [&](MaskBuilder& builder, int64_t i, int64_t begin, int64_t end) {
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

SparseMask nearest_mask(const at::Tensor& points, const std::optional<at::Tensor>& ptr, int64_t count) {
  const at::Tensor nearest = std::get<0>(std::get<0>(knn(points, points, count, ptr, ptr)).sort(1));
  // A row of a smaller item begins with places that none is in.
  const int64_t columns = nearest.size(1);
  const at::Tensor sizes = offsets_tensor(packed_offsets(ptr, points.size(0), "ptr")).diff();
  const at::Tensor taken = sizes.clamp_max(columns).repeat_interleave(sizes);
  SparseMask mask{copied_to(at::constant_pad_nd(taken.cumsum(0), {1, 0}), points.device()), nearest.flatten()};
  if (taken.eq(columns).all().item<bool>()) return mask;
  const at::Tensor there = at::arange(columns) >= columns - taken.unsqueeze(1);
  mask.col = mask.col.index_select(0, copied_to(there.flatten().nonzero().squeeze(1), points.device()));
  return mask;
}

SparseMask neighbour_mask(const at::Tensor& rowptr, const at::Tensor& col, const std::vector<int64_t>& offsets) {
  const int64_t tokens = offsets.back(), width = std::max<int64_t>(tokens, 1);
  TORCH_CHECK(rowptr.size(0) == tokens + 1, "rowptr must have an entry more than there are tokens, ", tokens + 1,
              ", got ", rowptr.size(0));
  const at::Tensor row = rows_of(rowptr, col.size(0)), token = at::arange(tokens, row.options());
  if (col.is_cpu()) check_edges(row, col, offsets);
  const at::Tensor entries = at::cat({row * width + col, token * width + token});
  return without_repetitions(rowptr + at::arange(tokens + 1, row.options()), std::get<0>(entries.sort()), width);
}

SparseMask pooled_mask(const SparseMask& mask, const std::vector<int64_t>& offsets, int64_t factor) {
  const PooledRows pooled(offsets, factor);
  const at::Tensor group_of_token = at::repeat_interleave(offsets_tensor(pooled.groups).diff());
  const at::Tensor group = copied_to(group_of_token, mask.col.device()).index_select(0, mask.col.clamp_min(0));
  const int64_t width = std::max<int64_t>(pooled.items.back(), 1);
  const at::Tensor entries = rows_of(mask.rowptr, mask.col.size(0)) * width + group;
  // What is no key repeats the entry before.
  const at::Tensor keys = std::get<0>(at::where(mask.col < 0, 0, entries).cummax(0));
  return without_repetitions(mask.rowptr, keys, width);
}

}  // namespace geosft
