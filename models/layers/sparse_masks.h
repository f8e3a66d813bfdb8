// SPDX-License-Identifier: Apache-2.0
// Which tokens each token sees in sparse attention, as primal_attention takes it.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace geosft {

// CSR over packed tokens, of queries and keys alike: rowptr int64 [N + 1], col int64 rising in each row and within the
// item. One mask for all heads. A mask of what is on a GPU is there, too. Without waiting it cannot be told how many
// entries are left of those that are repeated: the first stays, and the others are -1 - column, which is no key.
struct SparseMask {
  at::Tensor rowptr, col;
};

// Tokens at most `radius` >= 0 places away. `offsets` are the packed items here and below.
SparseMask window_mask(const std::vector<int64_t>& offsets, int64_t radius);
// Tokens less than `stride` >= 1 places away and those a multiple of it away (Sparse Transformer, section 4.2, both
// ways).
SparseMask strided_mask(const std::vector<int64_t>& offsets, int64_t stride);
// Tokens of the same block of `size` >= 1.
SparseMask block_mask(const std::vector<int64_t>& offsets, int64_t size);
// The `count` >= 1 tokens whose points [N, 3] are nearest, itself included; fewer in smaller items.
SparseMask nearest_mask(const at::Tensor& points, const std::optional<at::Tensor>& ptr, int64_t count);
// The tokens that a graph's CSR has edges to, and itself. Edges may be repeated and in any order, and must stay in
// their item: an error naming col for others, unless they are on a GPU.
SparseMask neighbour_mask(const at::Tensor& rowptr, const at::Tensor& col, const std::vector<int64_t>& offsets);

// The mask for keys that are groups of `factor` neighbouring tokens of an item: a group is seen where one of its tokens
// is.
SparseMask pooled_mask(const SparseMask& mask, const std::vector<int64_t>& offsets, int64_t factor);

}  // namespace geosft
