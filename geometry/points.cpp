// SPDX-License-Identifier: Apache-2.0
#include "geometry/points.h"

#include <ATen/Dispatch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
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

template <typename scalar_t>
bool all_within(const scalar_t* values, int64_t count, scalar_t limit) {
  using Bits = std::conditional_t<sizeof(scalar_t) == 4, uint32_t, uint64_t>;
  Bits beyond = 0;
  for (int64_t i = 0; i < count; ++i) beyond |= std::abs(values[i]) > limit ? Bits{1} : Bits{0};
  return beyond == 0;
}

// Returns the diagonal of the bounding box of an item; 0 if it has no points in one of the batches.
template <typename scalar_t>
double box_diagonal(std::initializer_list<NamedPoints> batches, size_t item) {
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const NamedPoints& batch : batches) {
    const scalar_t* const values = batch.points.const_data_ptr<scalar_t>();
    const int64_t begin = batch.offsets[item], end = batch.offsets[item + 1];
    if (begin == end) return 0;
    for (int64_t row = begin; row < end; ++row) {
      for (size_t axis = 0; axis < 3; ++axis) {
        const double value = values[3 * row + static_cast<int64_t>(axis)];
        low[axis] = std::min(low[axis], value);
        high[axis] = std::max(high[axis], value);
      }
    }
  }
  return std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
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
  TORCH_CHECK(points.is_cpu(), name, " must be on the CPU, not on ", points.device());
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "check_finite", [&] {
    const scalar_t* values = points.const_data_ptr<scalar_t>();
    if (all_finite(values, points.numel())) return;
    for (int64_t i = 0; i < points.numel(); ++i) {
      TORCH_CHECK(std::isfinite(values[i]), name, " must be finite, but row ", i / 3, " holds ", values[i]);
    }
  });
}

void check_squared_distances(std::initializer_list<NamedPoints> batches) {
  const at::ScalarType type = batches.begin()->points.scalar_type();
  AT_DISPATCH_FLOATING_TYPES(type, "check_squared_distances", [&] {
    const scalar_t largest = std::sqrt(std::numeric_limits<scalar_t>::max());
    // So near the origin, as nearly all points are, no difference of two is too large.
    const bool near = std::ranges::all_of(batches, [&](const NamedPoints& batch) {
      return all_within(batch.points.const_data_ptr<scalar_t>(), batch.points.numel(), largest / 4);
    });
    if (near) return;
    const double limit = static_cast<double>(largest) * (1 - 1e-6);  // squares and their sum are rounded
    for (size_t item = 0; item + 1 < batches.begin()->offsets.size(); ++item) {
      const double diagonal = box_diagonal<scalar_t>(batches, item);
      if (diagonal <= limit) continue;
      std::string names;
      for (const NamedPoints& batch : batches) names += (names.empty() ? "" : " and ") + std::string(batch.name);
      TORCH_CHECK(false, names, " must be at most ", limit, " apart, so that ",
                  type == at::kFloat ? "float32" : "float64", " holds squared distances, but the bounding box of item ",
                  item, " has a diagonal of ", diagonal, ": use another unit");
    }
  });
}

}  // namespace geosft
