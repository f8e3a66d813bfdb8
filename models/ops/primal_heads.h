// SPDX-License-Identifier: Apache-2.0
// Computes pooling and recentring of primal_attention for a group of heads of equal pooling factor, from LibTorch's
// operations, differentiable by autograd on any device, and checks and holds its mask.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "geometry/packed.h"
#include "models/ops/primal_attention.h"

namespace geosft {

// Heads of one pooling factor, ascending.
struct HeadGroup {
  int64_t factor;
  std::vector<int64_t> heads;

  // Returns whether the heads are adjacent.
  bool range() const { return heads.back() - heads.front() + 1 == static_cast<int64_t>(heads.size()); }
  // Returns these heads of x [N, h, …]: a view if they are adjacent.
  at::Tensor take(const at::Tensor& x) const;
  // Copies x [N, heads.size(), …] into these heads of `to`.
  void put(const at::Tensor& x, const at::Tensor& to) const;
};
std::vector<HeadGroup> head_groups(at::OptionalIntArrayRef pool, int64_t heads);

// Sums x [N, …] over the rows of each segment, [segments, …]; and the transpose: row i of x [segments, …] for all rows
// of segment i.
at::Tensor segment_sums(const at::Tensor& x, const std::vector<int64_t>& offsets);
at::Tensor spread_segments(const at::Tensor& x, const std::vector<int64_t>& offsets);
// Subtracts row i of y [segments, …] from all rows of segment i of x.
at::Tensor less_segments(const at::Tensor& x, const at::Tensor& y, const std::vector<int64_t>& offsets);
// Returns the sizes of segments, at least 1, [segments, 1, 1] like x.
at::Tensor segment_sizes(const std::vector<int64_t>& offsets, const at::Tensor& x);

// Offsets of the groups of `factor` rows that items of packed rows are split into, and of the items of the pooled rows.
struct PooledRows {
  PooledRows(const std::vector<int64_t>& offsets, int64_t factor);
  std::vector<int64_t> groups, items;
};

// Gradients of all differentiable arguments; `beta` [heads of the group], undefined without it.
struct PrimalGradients {
  at::Tensor q, k, v, beta;
};

// The inputs of the attention of one group: q and k recentred, k and v pooled. With softmax k is not recentred, since
// that would add the same number to all logits of a query.
struct PrimalHeads {
  PrimalHeads(const PrimalArguments& a, const OffsetPair& packed, const HeadGroup& group);

  // Returns the gradients of the arguments' heads from those of q, k and v here.
  PrimalGradients gradients(const at::Tensor& q_grad, const at::Tensor& k_grad, const at::Tensor& v_grad) const;

  PooledRows pooled;
  OffsetPair offsets;  // of q, and of the pooled k and v
  bool linear;
  at::Tensor q, k, v;
  at::Tensor beta, mean;  // [heads, 1] and [B, heads, c]; undefined without beta
 private:
  at::Tensor pool(const at::Tensor& x) const;
  at::Tensor unpool(const at::Tensor& grad) const;
};

// The mask of a call.
struct PrimalMask {
  // Checks the mask of `a`, which is on the CPU: throws an error naming mask_rowptr or mask_col if its values are not
  // as documented for primal_attention. Does nothing without a mask.
  PrimalMask(const PrimalArguments& a, const OffsetPair& packed, const std::vector<HeadGroup>& groups);

  bool given() const { return rowptr.defined(); }
  // Returns the entries of rowptr for this head, Nq + 1 from its first query on.
  const int64_t* rows(int64_t head) const { return rowptr.const_data_ptr<int64_t>() + (a_head ? head * queries : 0); }
  const int64_t* columns() const { return col.const_data_ptr<int64_t>(); }

  at::Tensor rowptr, col;  // int64, contiguous
  bool a_head = false;     // each head has its own mask
  int64_t queries = 0;

 private:
  void check_columns(int64_t head, const std::vector<int64_t>& q_items, const std::vector<int64_t>& k_items) const;
};

}  // namespace geosft
