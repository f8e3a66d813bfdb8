// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_mask.h"

namespace geosft {

PrimalMask::PrimalMask(const PrimalArguments& a, const OffsetPair& packed, const std::vector<HeadGroup>& groups) {
  if (!geosft::given(a.mask_rowptr)) return;
  rowptr = a.mask_rowptr->contiguous();
  col = a.mask_col->contiguous();
  queries = a.q.size(0);
  a_head = rowptr.size(0) != queries + 1;
  check_rows();
  for (const HeadGroup& group : groups) {
    const PooledRows pooled(packed.second, group.factor);
    for (const int64_t head : group.heads) {
      check_columns(head, packed.first, pooled.items);
      if (!a_head) return;
    }
  }
}

void PrimalMask::check_rows() const {
  const int64_t* entries = rowptr.const_data_ptr<int64_t>();
  const int64_t count = rowptr.size(0);
  TORCH_CHECK(entries[0] == 0, "mask_rowptr must begin with 0, not ", entries[0]);
  for (int64_t row = 1; row < count; ++row) {
    TORCH_CHECK(entries[row] >= entries[row - 1], "mask_rowptr must not decrease: entry ", row, " is ", entries[row],
                " after ", entries[row - 1]);
  }
  TORCH_CHECK(entries[count - 1] == col.size(0), "mask_rowptr must end with the entries of mask_col, ", col.size(0),
              ", not ", entries[count - 1]);
}

void PrimalMask::check_columns(int64_t head, const std::vector<int64_t>& q_items,
                               const std::vector<int64_t>& k_items) const {
  const int64_t *begin = rows(head), *keys = columns();
  for (size_t b = 0; b + 1 < q_items.size(); ++b) {
    for (int64_t i = q_items[b]; i < q_items[b + 1]; ++i) {
      int64_t least = k_items[b];
      for (int64_t e = begin[i]; e < begin[i + 1]; ++e) {
        TORCH_CHECK(keys[e] >= least && keys[e] < k_items[b + 1],
                    "mask_col must rise in each row and stay in the item: ", "query ", i, " of head ", head, " sees ",
                    keys[e], ", expected ", least, " to ", k_items[b + 1] - 1);
        least = keys[e] + 1;
      }
    }
  }
}

}  // namespace geosft
