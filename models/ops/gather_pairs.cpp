// SPDX-License-Identifier: Apache-2.0
#include "models/ops/gather_pairs.h"

#include "geometry/operators.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

// Throws an error with the first index that is out of range, if any.
void refuse_rows(const at::Tensor& x, const at::Tensor& rows, const char* name) {
  const at::Tensor strange = rows.masked_select((rows < 0) | (rows >= x.size(0)));
  TORCH_CHECK_INDEX(strange.numel() == 0, name, " must hold rows of x, which has ", x.size(0), ", found row ",
                    strange[0].item<int64_t>());
}

at::Tensor select_rows(const at::Tensor& x, const at::Tensor& rows, const char* name) {
  try {
    return x.index_select(0, rows);
  } catch (const c10::Error&) {
    refuse_rows(x, rows, name);
    throw;
  }
}

// Composed of LibTorch's operators, for the CPU and for tracing.
at::Tensor gather_pairs_composite(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                                  const at::Tensor& weight) {
  check_gather_pairs(x, top, partner, weight);
  std::vector<c10::SymInt> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = weight.sym_size(0);
  const at::Tensor second = select_rows(x, partner, "partner");
  return second + weight.view_symint(shape) * (select_rows(x, top, "top") - second);
}

}  // namespace

void check_gather_pairs(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                        const at::Tensor& weight) {
  for (const auto& [tensor, name] :
       {std::pair(x, "x"), std::pair(top, "top"), std::pair(partner, "partner"), std::pair(weight, "weight")}) {
    TORCH_CHECK(tensor.defined(), name, " must be a tensor");
    TORCH_CHECK(tensor.layout() == at::kStrided, name, " must be a strided tensor, not ", tensor.layout());
  }
  TORCH_CHECK(x.dim() >= 1 && is_supported_float(x), "x must be [N, ...] of ", supported_floats, ", got ",
              x.scalar_type(), " ", x.sym_sizes());
  TORCH_CHECK(weight.dim() == 1 && is_supported_float(weight), "weight must be [K] of ", supported_floats, ", got ",
              weight.scalar_type(), " ", weight.sym_sizes());
  const auto check_rows = [&](const at::Tensor& rows, const char* name) {
    TORCH_CHECK(rows.scalar_type() == at::kLong && rows.dim() == 1, name, " must be int64 [K], got ",
                rows.scalar_type(), " ", rows.sym_sizes());
    TORCH_SYM_CHECK(rows.sym_size(0).sym_eq(weight.sym_size(0)), name, " must have an entry for each of weight's ",
                    weight.sym_size(0), ", got ", rows.sym_size(0));
    TORCH_CHECK(rows.device() == x.device(), name, " must be on the device of x, ", x.device(), ", not ",
                rows.device());
  };
  check_rows(top, "top");
  check_rows(partner, "partner");
  TORCH_CHECK(weight.device() == x.device(), "weight must be on the device of x, ", x.device(), ", not ",
              weight.device());
}

at::Tensor gather_pairs(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                        const at::Tensor& weight) {
  static const auto op = find_operator<decltype(gather_pairs)>("gather_pairs");
  return op.call(x, top, partner, weight);
}

GEOSFT_OPERATORS(m) {
  m.def("gather_pairs(Tensor x, Tensor top, Tensor partner, Tensor weight) -> Tensor", {at::Tag::pt2_compliant_tag});
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("gather_pairs", gather_pairs_composite);
}

}  // namespace geosft
