// SPDX-License-Identifier: Apache-2.0
#include "geometry/points.h"

#include <ATen/Dispatch.h>

#include <bit>
#include <cmath>
#include <type_traits>

namespace geosft {
namespace {

// Tests the bits: the compiler vectorizes this loop, but not one over std::isfinite.
template <typename scalar_t>
bool all_finite(const scalar_t* values, int64_t count) {
  using Bits = std::conditional_t<sizeof(scalar_t) == 4, uint32_t, uint64_t>;
  const Bits exponent = std::bit_cast<Bits>(std::numeric_limits<scalar_t>::infinity());
  Bits bad = 0;
  for (int64_t i = 0; i < count; ++i)
    bad |= (std::bit_cast<Bits>(values[i]) & exponent) == exponent ? Bits{1} : Bits{0};
  return bad == 0;
}

}  // namespace

void check_points(const at::Tensor& points, const char* name) {
  TORCH_CHECK(points.defined(), name, " must be a tensor of shape [N, 3], got none");
  TORCH_CHECK(points.dim() == 2 && points.sym_size(1) == 3, name, " must have shape [N, 3], got ", points.sym_sizes());
  TORCH_CHECK(points.scalar_type() == at::kFloat || points.scalar_type() == at::kDouble, name,
              " must be float32 or float64, not ", points.scalar_type());
}

void check_same_kind(const at::Tensor& first, const char* first_name, const at::Tensor& second,
                     const char* second_name) {
  TORCH_CHECK(first.scalar_type() == second.scalar_type(), first_name, " and ", second_name,
              " must have one dtype, got ", first.scalar_type(), " and ", second.scalar_type());
  TORCH_CHECK(first.device() == second.device(), first_name, " and ", second_name, " must be on one device, got ",
              first.device(), " and ", second.device());
}

void check_finite(const at::Tensor& points, const char* name) {
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "check_finite", [&] {
    const scalar_t* values = points.const_data_ptr<scalar_t>();
    if (all_finite(values, points.numel())) return;
    for (int64_t i = 0; i < points.numel(); ++i) {
      TORCH_CHECK(std::isfinite(values[i]), name, " must be finite, but row ", i / 3, " holds ", values[i]);
    }
  });
}

}  // namespace geosft
