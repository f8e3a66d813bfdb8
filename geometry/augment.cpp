// SPDX-License-Identifier: Apache-2.0
#include "geometry/augment.h"

#include <cmath>

#include "geometry/points.h"

namespace geosft {

at::Tensor random_scale(const at::Tensor& points, double low, double high, at::Generator generator) {
  check_points(points, "points");
  TORCH_CHECK(std::isfinite(low) && low > 0, "low must be finite and positive, got ", low);
  TORCH_CHECK(std::isfinite(high) && high >= low, "high must be finite and at least low = ", low, ", got ", high);
  const double u = at::rand({1}, generator, at::TensorOptions().dtype(at::kDouble)).item<double>();
  return points * (low + u * (high - low));
}

StretchedPoints random_stretch(const at::Tensor& points, const at::Tensor& normals, double spread,
                               at::Generator generator) {
  check_points(points, "points");
  TORCH_CHECK(std::isfinite(spread) && spread >= 0, "spread must be finite and not negative, got ", spread);
  const at::Tensor u = at::rand({3}, generator, at::TensorOptions().dtype(at::kDouble));
  const at::Tensor factor = ((2 * u - 1) * spread).exp().to(points.scalar_type());
  if (!normals.defined()) return {points * factor, normals};
  TORCH_CHECK(normals.sizes() == points.sizes(), "normals must have the shape of points ", points.sizes(), ", got ",
              normals.sizes());
  const at::Tensor bent = normals / factor;
  return {points * factor, bent / bent.norm(2, -1, true).clamp_min(1e-12)};
}

at::Tensor jitter(const at::Tensor& points, double sigma, double clip, at::Generator generator) {
  check_points(points, "points");
  TORCH_CHECK(std::isfinite(sigma) && sigma >= 0, "sigma must be finite and not negative, got ", sigma);
  TORCH_CHECK(!std::isnan(clip) && clip >= 0, "clip must not be negative, got ", clip);
  return points + at::randn(points.sizes(), generator, points.options()).mul_(sigma).clamp_(-clip, clip);
}

at::Tensor random_subset(int64_t n, int64_t m, at::Generator generator) {
  TORCH_CHECK(n >= 0, "n must not be negative, got ", n);
  TORCH_CHECK(m >= 0 && m <= n, "m must be between 0 and the ", n, " rows, got ", m);
  return std::get<0>(at::randperm(n, generator, at::TensorOptions().dtype(at::kLong)).narrow(0, 0, m).sort());
}

at::Tensor drop_rows(int64_t n, double p, at::Generator generator) {
  TORCH_CHECK(n >= 0, "n must not be negative, got ", n);
  TORCH_CHECK(p >= 0 && p < 1, "p must be in [0, 1), got ", p);
  // A product such as 0.29 * 100 = 28.999… must not keep a row too many.
  const auto dropped = static_cast<int64_t>(std::floor(p * static_cast<double>(n) * (1 + 1e-12)));
  return random_subset(n, n - dropped, generator);
}

}  // namespace geosft
