// SPDX-License-Identifier: Apache-2.0
#include "geometry/farthest_point_sampling.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "geometry/bucketed_cloud.h"
#include "geometry/operator_checks.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/points.h"

namespace geosft {
namespace {

// Writes `m` rows of the item at `points`, starting with `start`, as rows of the packed batch.
template <typename scalar_t>
void sample_item(const scalar_t* points, int64_t count, int64_t m, int64_t start, int64_t first_row, int64_t* rows) {
  if (m == 0) return;
  BucketedCloud<scalar_t> cloud(points, count);
  cloud.choose_first(start);
  rows[0] = first_row + start;
  for (int64_t i = 1; i < m; ++i) rows[i] = first_row + cloud.choose_next();
}

// Returns the number of rows sampled before each item.
std::vector<int64_t> sample_offsets(const std::vector<int64_t>& offsets, int64_t m) {
  std::vector<int64_t> sampled(offsets.size(), 0);
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    sampled[b + 1] = sampled[b] + std::min(m, offsets[b + 1] - offsets[b]);
  return sampled;
}

// The size of the result is an argument of the inner operator, computed from ptr by tensor operations. If the call is
// being traced and ptr has no values, it is a symbol instead of a number.
at::Tensor farthest_point_sampling_any(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                       int64_t start) {
  check_farthest_point_arguments(points, m, ptr, start);
  const c10::SymInt rows = given(ptr) ? ptr->diff().clamp_max(m).sum().item().toSymInt() : points.sym_size(0).min(m);
  using Signature = at::Tensor(const at::Tensor&, int64_t, const std::optional<at::Tensor>&, int64_t, c10::SymInt);
  static const auto op = find_operator<Signature>("_farthest_point_sampling");
  return op.call(points.detach(), m, ptr, start, rows);
}

at::Tensor farthest_point_sampling_meta(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                        int64_t start, c10::SymInt rows) {
  check_farthest_point_arguments(points, m, ptr, start);
  TORCH_SYM_CHECK(rows.sym_ge(0), "rows must not be negative, got ", rows);
  return at::empty_symint({rows}, points.options().dtype(at::kLong));
}

at::Tensor farthest_point_sampling_cpu(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                       int64_t start, int64_t rows) {
  check_farthest_point_arguments(points, m, ptr, start);
  const std::vector<int64_t> offsets = packed_offsets(ptr, points.size(0), "ptr");
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  for (int64_t b = 0; b < items; ++b) {
    const int64_t count = offsets[b + 1] - offsets[b];
    TORCH_CHECK(count == 0 || start < count, "start must be a row of every item, but item ", b, " has ", count,
                " rows and start is ", start);
  }
  const at::Tensor contiguous = points.contiguous();
  check_finite(contiguous, "points");
  check_squared_distances({{contiguous, offsets, "points"}});
  const std::vector<int64_t> sampled = sample_offsets(offsets, m);
  TORCH_CHECK(rows == sampled.back(), "rows must be ", sampled.back(), ", got ", rows);
  at::Tensor chosen = at::empty({rows}, points.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "farthest_point_sampling", [&] {
    const scalar_t* values = contiguous.const_data_ptr<scalar_t>();
    int64_t* out = chosen.data_ptr<int64_t>();
    at::parallel_for(0, items, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        sample_item(values + 3 * offsets[b], offsets[b + 1] - offsets[b], sampled[b + 1] - sampled[b], start,
                    offsets[b], out + sampled[b]);
      }
    });
  });
  return chosen;
}

// Returns the row farthest from the centroid. Computed in double, so that rounding matters only for distances that
// agree to 1e-15.
template <typename scalar_t>
int64_t outermost_row(const scalar_t* points, int64_t count) {
  double centroid[3] = {0, 0, 0};
  for (int64_t i = 0; i < 3 * count; ++i)
    centroid[i % 3] += static_cast<double>(points[i]) / static_cast<double>(count);
  int64_t outermost = 0;
  double largest = -1;
  for (int64_t i = 0; i < count; ++i) {
    const double dx = points[3 * i] - centroid[0], dy = points[3 * i + 1] - centroid[1];
    const double dz = points[3 * i + 2] - centroid[2];
    const double dist2 = dx * dx + dy * dy + dz * dz;
    if (dist2 > largest) {
      largest = dist2;
      outermost = i;
    }
  }
  return outermost;
}

at::Tensor farthest_point_order_meta(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  check_farthest_point_arguments(points, 0, ptr, 0);
  return at::empty_symint({points.sym_size(0)}, points.options().dtype(at::kLong));
}

at::Tensor farthest_point_order_cpu(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  check_points(points, "points");
  const std::vector<int64_t> offsets = packed_offsets(ptr, points.size(0), "ptr");
  const at::Tensor contiguous = points.contiguous();
  check_finite(contiguous, "points");
  check_squared_distances({{contiguous, offsets, "points"}});
  at::Tensor order = at::empty({points.size(0)}, points.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "farthest_point_order", [&] {
    const scalar_t* values = contiguous.const_data_ptr<scalar_t>();
    int64_t* out = order.data_ptr<int64_t>();
    at::parallel_for(0, static_cast<int64_t>(offsets.size()) - 1, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t first = offsets[b], count = offsets[b + 1] - first;
        const scalar_t* item = values + 3 * first;
        sample_item(item, count, count, outermost_row(item, count), first, out + first);
      }
    });
  });
  return order;
}

// A block on the GPU keeps this many points in registers. Larger items are reread in every round, and the tree on the
// CPU is faster.
constexpr int64_t max_ordered_on_gpu = 4096;

// Returns the number of points of the largest item, or of the whole batch if ptr is on a GPU.
int64_t largest_item(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  if (!given(ptr) || !ptr->is_cpu() || ptr->numel() < 2) return points.size(0);
  return ptr->diff().max().item<int64_t>();
}

GEOSFT_OPERATORS(m) {
  define_operator<c10::DispatchKey::CompositeImplicitAutograd>(
      m, "farthest_point_sampling(Tensor points, int m, Tensor? ptr=None, int start=0) -> Tensor",
      farthest_point_sampling_any);
  define_operator<c10::DispatchKey::CPU, c10::DispatchKey::Meta>(
      m, "_farthest_point_sampling(Tensor points, int m, Tensor? ptr, int start, SymInt rows) -> Tensor",
      farthest_point_sampling_cpu, farthest_point_sampling_meta);
  define_operator<c10::DispatchKey::CPU, c10::DispatchKey::Meta>(
      m, "_farthest_point_order(Tensor points, Tensor? ptr) -> Tensor", farthest_point_order_cpu,
      farthest_point_order_meta);
}

}  // namespace

void check_farthest_point_arguments(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                    int64_t start) {
  check_points(points, "points");
  TORCH_CHECK(m >= 0, "m must not be negative, got ", m);
  TORCH_CHECK(start >= 0, "start must not be negative, got ", start);
  check_ptr(ptr, "ptr", points);
}

at::Tensor farthest_point_sampling(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                   int64_t start) {
  static const auto op = find_operator<decltype(farthest_point_sampling)>("farthest_point_sampling");
  return op.call(points, m, ptr, start);
}

at::Tensor farthest_point_order(const at::Tensor& points, const std::optional<at::Tensor>& ptr) {
  static const auto op = find_operator<decltype(farthest_point_order)>("_farthest_point_order");
  const bool there = points.defined() && points.is_cuda() && largest_item(points, ptr) > max_ordered_on_gpu;
  if (!there) return op.call(points.detach(), ptr);
  const std::optional<at::Tensor> host_ptr = ptr && ptr->defined() ? std::optional(ptr->cpu()) : std::nullopt;
  return op.call(points.detach().cpu(), host_ptr).to(points.device());
}

}  // namespace geosft
