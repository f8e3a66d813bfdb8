// SPDX-License-Identifier: Apache-2.0
// Rows that indices on the device name: the host does not wait to see whether they name any.
#pragma once

#include <ATen/ATen.h>

namespace geosft::cuda {

// That `from` (argument `name`) has a row at all, if `index` [K] is to name some.
inline void check_any_row(const at::Tensor& index, const at::Tensor& from, const char* name) {
  TORCH_CHECK(from.size(0) > 0 || index.size(0) == 0, name, " must have the rows that top and partner name, but is ",
              from.sizes());
}

// The rows of `from` that `index` names, the nearest row where it names none: the wrong row, but no access beyond the
// array, and no index_select that leaves the process without its GPU.
inline at::Tensor named_rows(const at::Tensor& index, const at::Tensor& from, const char* name) {
  check_any_row(index, from, name);
  return index.clamp(0, from.size(0) - 1);
}

}  // namespace geosft::cuda
