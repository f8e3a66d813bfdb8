// SPDX-License-Identifier: Apache-2.0
// The mask of primal_attention, its values checked.
#pragma once

#include <vector>

#include "models/ops/primal_heads.h"

namespace geosft {

struct PrimalMask {
  // Checks the mask of `a`, which is on the CPU: an error naming mask_rowptr or mask_col where its values are not as
  // primal_attention says. Nothing is checked without a mask.
  PrimalMask(const PrimalArguments& a, const OffsetPair& packed, const std::vector<HeadGroup>& groups);

  bool given() const { return rowptr.defined(); }
  // The entries of rowptr for the queries of this head, Nq + 1 from the first of them on.
  const int64_t* rows(int64_t head) const { return rowptr.const_data_ptr<int64_t>() + (a_head ? head * queries : 0); }
  const int64_t* columns() const { return col.const_data_ptr<int64_t>(); }

  at::Tensor rowptr, col;  // int64, contiguous
  bool a_head = false;     // whether each head has a mask of its own
  int64_t queries = 0;

 private:
  void check_rows() const;
  void check_columns(int64_t head, const std::vector<int64_t>& q_items, const std::vector<int64_t>& k_items) const;
};

}  // namespace geosft
