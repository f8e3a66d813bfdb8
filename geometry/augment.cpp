// SPDX-License-Identifier: Apache-2.0
#include "geometry/augment.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "geometry/cloud_pose.h"
#include "geometry/normalize.h"
#include "geometry/operator_checks.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/points.h"

namespace geosft {
namespace {

void check_options(const AugmentOptions& options) {
  TORCH_CHECK(options.points >= 1, "options.points must be at least 1, got ", options.points);
  TORCH_CHECK(std::isfinite(options.stretch) && options.stretch >= 0, "stretch must be finite and not negative, got ",
              options.stretch);
  TORCH_CHECK(options.rotation >= Rotation::none && options.rotation <= Rotation::so3,
              "rotation must be 0 (none), 1 (z) or 2 (so3), got ", static_cast<int64_t>(options.rotation));
  const double low = options.scale_low, high = options.scale_high;
  TORCH_CHECK(std::isfinite(low) && low > 0, "scale_low must be finite and positive, got ", low);
  TORCH_CHECK(std::isfinite(high) && high >= low, "scale_high must be finite and at least scale_low = ", low, ", got ",
              high);
  TORCH_CHECK(std::isfinite(options.jitter) && options.jitter >= 0, "jitter must be finite and not negative, got ",
              options.jitter);
  TORCH_CHECK(options.jitter_clip >= 0, "jitter_clip must not be negative, got ", options.jitter_clip);
  TORCH_CHECK(options.drop >= 0 && options.drop < 1, "drop must be in [0, 1), got ", options.drop);
}

void check_clouds(const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& ptr,
                  const at::Tensor& seeds) {
  check_points(points, "points");
  if (given(normals)) {
    TORCH_CHECK(normals->sizes() == points.sizes(), "normals must have the shape of points ", points.sizes(), ", got ",
                normals->sizes());
    check_same_kind(points, "points", *normals, "normals");
  }
  TORCH_CHECK(ptr.defined() && seeds.defined(), ptr.defined() ? "seeds" : "ptr", " must be a tensor, got none");
  check_ptr(ptr, "ptr", points);
  TORCH_CHECK(seeds.scalar_type() == at::kLong && seeds.dim() == 1 && seeds.size(0) == ptr.size(0) - 1,
              "seeds must be int64 [", ptr.size(0) - 1, "], one a cloud, got ", seeds.scalar_type(), " ",
              seeds.sizes());
  TORCH_CHECK(seeds.is_cpu() || seeds.device() == points.device(), "seeds must be on the CPU or on ", points.device(),
              ", not ", seeds.device());
}

// Returns, in ascending order, the `k` indices among 0 … count - 1 with the smallest keys; ties go to the lower
// index.
template <class Key>
std::vector<int64_t> chosen(int64_t count, int64_t k, Key key) {
  std::vector<int64_t> places(static_cast<size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  if (k == count) return places;
  std::vector<std::pair<uint64_t, int64_t>> keyed;
  keyed.reserve(places.size());
  for (const int64_t place : places) keyed.emplace_back(key(place), place);
  std::nth_element(keyed.begin(), keyed.begin() + k, keyed.end());
  places.resize(static_cast<size_t>(k));
  std::transform(keyed.begin(), keyed.begin() + k, places.begin(), [](const auto& one) { return one.second; });
  std::sort(places.begin(), places.end());
  return places;
}

// The input and output arrays of a batch on the CPU.
template <typename T>
struct Augmentation {
  const CloudOffsets& offsets;
  const AugmentOptions& options;
  const T* points;
  const T* normals;  // null without normals
  const int64_t* seeds;
  T* to_points;
  T* to_normals;
  int64_t* rows;

  void cloud(size_t b) const {
    const auto seed = static_cast<uint64_t>(seeds[b]);
    const CloudPose pose = cloud_pose(seed, options);
    const std::vector<int64_t> subset =
        chosen(size(offsets.all, b), size(offsets.subset, b), [&](int64_t row) { return row_keys(seed, row).subset; });
    const at::Tensor unit = normalize(moved(subset, pose, b)).points;
    const auto* at = unit.const_data_ptr<double>();
    int64_t to = offsets.kept[b];
    for (const int64_t place : chosen(size(offsets.subset, b), size(offsets.kept, b), [&](int64_t one) {
           return row_keys(seed, subset[static_cast<size_t>(one)]).drop;
         })) {
      const int64_t row = subset[static_cast<size_t>(place)];
      rows[to] = offsets.all[b] + row;
      write_point({at[3 * place], at[3 * place + 1], at[3 * place + 2]}, pose, seed, row, options, to_points + 3 * to);
      if (normals) write_normal(normals + 3 * rows[to], pose, options, to_normals + 3 * to);
      ++to;
    }
  }

 private:
  static int64_t size(const std::vector<int64_t>& ptr, size_t b) { return ptr[b + 1] - ptr[b]; }

  // Returns the rows `subset` of a cloud after stretch and rotation.
  at::Tensor moved(const std::vector<int64_t>& subset, const CloudPose& pose, size_t b) const {
    const at::Tensor result = at::empty({static_cast<int64_t>(subset.size()), 3}, at::kDouble);
    auto* out = result.data_ptr<double>();
    for (const int64_t row : subset) {
      const Vector3 to = mapped(pose.point, points + 3 * (offsets.all[b] + row));
      out = std::copy(std::begin(to.x), std::end(to.x), out);
    }
    return result;
  }
};

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> augment_clouds_cpu(
    const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& ptr, const at::Tensor& seeds,
    int64_t max_points, int64_t rotation, at::ArrayRef<double> numbers) {
  const AugmentOptions options = augment_options(max_points, rotation, numbers);
  const CloudOffsets offsets = check_augmentation(points, normals, ptr, seeds, options);
  const at::Tensor from = points.contiguous(), turned = given(normals) ? normals->contiguous() : at::Tensor();
  check_finite(from, "points");
  const at::Tensor of_cloud = seeds.contiguous();
  const int64_t count = offsets.kept.back();
  const at::Tensor rows = at::empty({count}, at::kLong), to = at::empty({count, 3}, points.options());
  const at::Tensor to_normals = turned.defined() ? at::empty_like(to) : at::Tensor();
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "augment_clouds", [&] {
    const Augmentation<scalar_t> batch{offsets,
                                       options,
                                       from.const_data_ptr<scalar_t>(),
                                       turned.defined() ? turned.const_data_ptr<scalar_t>() : nullptr,
                                       of_cloud.const_data_ptr<int64_t>(),
                                       to.data_ptr<scalar_t>(),
                                       turned.defined() ? to_normals.data_ptr<scalar_t>() : nullptr,
                                       rows.data_ptr<int64_t>()};
    at::parallel_for(0, offsets.clouds(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) batch.cloud(static_cast<size_t>(b));
    });
  });
  return {to, to_normals, offsets_tensor(offsets.kept), rows};
}

GEOSFT_OPERATORS(m) {
  m.def(
      "_augment_clouds(Tensor points, Tensor? normals, Tensor ptr, Tensor seeds, int max_points, int rotation, "
      "float[] numbers) -> (Tensor points, Tensor normals, Tensor ptr, Tensor rows)");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_augment_clouds", augment_clouds_cpu);
}

}  // namespace

CloudOffsets check_augmentation(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                const at::Tensor& ptr, const at::Tensor& seeds, const AugmentOptions& options) {
  check_options(options);
  check_clouds(points, normals, ptr, seeds);
  CloudOffsets offsets{packed_offsets(ptr, points.size(0), "ptr"), {0}, {0}};
  for (size_t b = 0; b + 1 < offsets.all.size(); ++b) {
    const int64_t some = std::min(options.points, offsets.all[b + 1] - offsets.all[b]);
    offsets.subset.push_back(offsets.subset.back() + some);
    offsets.kept.push_back(offsets.kept.back() + rows_kept(some, options.drop));
  }
  return offsets;
}

AugmentOptions augment_options(int64_t max_points, int64_t rotation, at::ArrayRef<double> numbers) {
  TORCH_CHECK(numbers.size() == 6, "numbers must be stretch, scale_low, scale_high, jitter, jitter_clip and drop, got ",
              numbers.size());
  return {max_points, numbers[0], static_cast<Rotation>(rotation), numbers[1], numbers[2], numbers[3],
          numbers[4], numbers[5]};
}

AugmentedClouds augment_clouds(const at::Tensor& points, const at::Tensor& normals, const at::Tensor& ptr,
                               const at::Tensor& seeds, const AugmentOptions& options) {
  static const auto op = find_operator<AugmentSignature>("_augment_clouds");
  check_points(points, "points");
  const std::array<double, 6> numbers{options.stretch, options.scale_low,   options.scale_high,
                                      options.jitter,  options.jitter_clip, options.drop};
  const auto given_normals = normals.defined() ? std::make_optional(normals.detach()) : std::nullopt;
  auto [changed, turned, offsets, rows] = op.call(points.detach(), given_normals, ptr, seeds, options.points,
                                                  static_cast<int64_t>(options.rotation), numbers);
  return {changed, turned, offsets, rows};
}

at::Tensor random_subset(int64_t n, int64_t m, at::Generator generator) {
  TORCH_CHECK(n >= 0, "n must not be negative, got ", n);
  TORCH_CHECK(m >= 0 && m <= n, "m must be between 0 and the ", n, " rows, got ", m);
  return std::get<0>(at::randperm(n, generator, at::TensorOptions().dtype(at::kLong)).narrow(0, 0, m).sort());
}

int64_t rows_kept(int64_t n, double p) {
  TORCH_CHECK(n >= 0, "n must not be negative, got ", n);
  TORCH_CHECK(p >= 0 && p < 1, "p must be in [0, 1), got ", p);
  // Without the factor, a rounded product such as 0.29 * 100 = 28.999… would keep one row too many.
  return n - static_cast<int64_t>(std::floor(p * static_cast<double>(n) * (1 + 1e-12)));
}

at::Tensor drop_rows(int64_t n, double p, at::Generator generator) {
  return random_subset(n, rows_kept(n, p), generator);
}

}  // namespace geosft
