// SPDX-License-Identifier: Apache-2.0
#include "models/ops/column_sums.h"

#include <ATen/core/grad_mode.h>

#include "geometry/operators.h"
#include "models/ops/opmath.h"

namespace geosft {

void check_column_sums(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.defined() && a.dim() == 2 && is_supported_float(a), "a must be [n, d] of ", supported_floats, ", got ",
              a.defined() ? c10::toString(a.scalar_type()) : "undefined", " ",
              a.defined() ? a.sizes() : at::IntArrayRef());
  TORCH_CHECK(b.defined() && b.sizes() == a.sizes(), "b must have the shape of a, ", a.sizes(), ", got ",
              b.defined() ? b.sizes() : at::IntArrayRef());
  TORCH_CHECK(b.scalar_type() == a.scalar_type() && b.device() == a.device(), "b must have the dtype and device of a, ",
              a.scalar_type(), " on ", a.device(), ", got ", b.scalar_type(), " on ", b.device());
}

at::Tensor column_sums(const at::Tensor& a, const at::Tensor& b) {
  check_column_sums(a, b);
  static const auto op = find_operator<at::Tensor(const at::Tensor&, const at::Tensor&)>("_column_sums");
  const at::NoGradGuard guard;
  return op.call(a.detach(), b.detach());
}

GEOSFT_OPERATORS(m) {
  m.def("_column_sums(Tensor a, Tensor b) -> Tensor");
}

}  // namespace geosft
