// SPDX-License-Identifier: Apache-2.0
// Builds the masks of sparse attention for primal_attention: the keys that each query attends to.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "models/layers/primal_options.h"

namespace geosft {

// CSR matrix over packed tokens (queries and keys): rowptr int64 [N + 1], col int64, ascending in each row and within
// the item. All heads share one mask, which is on the device of its input. On a GPU duplicates cannot be removed
// without a synchronisation: the first stays, and the others become -1 - column, which is no valid key.
struct SparseMask {
  at::Tensor rowptr, col;
};

// Returns the mask of tokens at a distance of at most `radius` >= 0. `offsets` are those of the packed items here and
// below.
SparseMask window_mask(const std::vector<int64_t>& offsets, int64_t radius);
// Returns the mask of tokens at a distance below `stride` or a multiple of it (Sparse Transformer, section 4.2, in both
// directions); 0: for each item the square root of its number of tokens, rounded, for which a row has about 3 sqrt(n)
// entries.
SparseMask strided_mask(const std::vector<int64_t>& offsets, int64_t stride);
// Returns the mask of tokens of the same block of `size` >= 1 tokens.
SparseMask block_mask(const std::vector<int64_t>& offsets, int64_t size);
// Returns the mask of the `count` >= 1 nearest tokens by their points [N, 3], including the token itself; fewer in
// smaller items.
SparseMask nearest_mask(const at::Tensor& points, const std::optional<at::Tensor>& ptr, int64_t count);
// Returns the mask of the neighbours of each token in a CSR graph, and the token itself. Edges may be repeated and in
// any order. Edges between items are an error that names col (unchecked on a GPU).
SparseMask neighbour_mask(const at::Tensor& rowptr, const at::Tensor& col, const std::vector<int64_t>& offsets);

// Returns the mask of a kind that depends on places in the sequence alone: window, strided or block, of that size.
// Undefined for other kinds.
SparseMask sequence_mask(MaskKind kind, int64_t size, const std::vector<int64_t>& offsets);

// Returns the mask for pooled keys, groups of `factor` consecutive tokens of an item: a query attends to a group if it
// attends to any of its tokens.
SparseMask pooled_mask(const SparseMask& mask, const std::vector<int64_t>& offsets, int64_t factor);

}  // namespace geosft
