// SPDX-License-Identifier: Apache-2.0
// Checks and holds the mask of primal_attention.
#pragma once

#include <vector>

#include "models/ops/primal_heads.h"

namespace geosft {

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
  void check_rows() const;
  void check_columns(int64_t head, const std::vector<int64_t>& q_items, const std::vector<int64_t>& k_items) const;
};

}  // namespace geosft
