// SPDX-License-Identifier: Apache-2.0
// Defines the inputs of the attention kernels on the CPU, as contiguous, checked arrays, and how their work is divided
// into units.
#pragma once

#include <cstdint>
#include <vector>

#include "models/ops/cpu/row_accessor.h"

namespace geosft {

// Queries and keys per tile of a kernel (SFT section 4.3: S is n x k; each thread holds only kKeyTile x kQueryBlock of
// it at a time).
inline constexpr int64_t kQueryBlock = 128;
inline constexpr int64_t kKeyTile = 16;

// Inputs of one call. q [Nq, heads, c], k [Nk, heads, c], v [Nk, heads, cv], of one type; leak [Nk, heads].
template <typename T>
struct AttentionProblem {
  RowAccessor<const T> q, k, v;
  const T* leak;
  int64_t heads, c, cv;
  T eps;
  std::vector<int64_t> q_offsets, k_offsets;

  int64_t items() const { return static_cast<int64_t>(q_offsets.size()) - 1; }
  int64_t queries(int64_t item) const { return q_offsets[item + 1] - q_offsets[item]; }
  int64_t keys(int64_t item) const { return k_offsets[item + 1] - k_offsets[item]; }
};

// A rectangle of work: queries [q_begin, q_end) of one item, all of its keys, heads [head_begin, head_end). `split`,
// `group` and `part` select the accumulators that the unit may write to.
struct AttentionUnit {
  int64_t item, q_begin, q_end, k_begin, k_end, head_begin, head_end, split, group, part;

  int64_t work() const { return (q_end - q_begin) * (k_end - k_begin) * (head_end - head_begin); }
};

// Divides the backward pass: heads into `splits` ranges, and the queries of every item into `groups` ranges. Part p is
// the units [parts[p], parts[p + 1]), which run one after the other; parts have about equal work.
struct BackwardPlan {
  int64_t splits, groups;
  std::vector<AttentionUnit> units;
  std::vector<int64_t> parts{0};

  int64_t part_count() const { return static_cast<int64_t>(parts.size()) - 1; }
};

// Sizes of the accumulators for the gradients of an attention bias: elements per query row and per key row over all
// heads, and per part.
struct SharedWidths {
  int64_t query = 0, key = 0, part = 0;
};

// Returns one unit for every kQueryBlock queries.
std::vector<AttentionUnit> forward_units(const std::vector<int64_t>& q_offsets, const std::vector<int64_t>& k_offsets,
                                         int64_t heads);

// Depends only on sizes, never on the number of threads, so results have the same bits on any number of threads. The
// extra accumulators take at most a few per cent of q, k and v, or a fixed size. The first copies are the results,
// unless those are `rounded` to a half type.
BackwardPlan backward_plan(const std::vector<int64_t>& q_offsets, const std::vector<int64_t>& k_offsets, int64_t heads,
                           int64_t c, int64_t cv, SharedWidths shared, bool rounded = false);

}  // namespace geosft
