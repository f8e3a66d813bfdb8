// SPDX-License-Identifier: Apache-2.0
// Computes point-pair features on the CPU, point by point; other devices use the composite.
#include "models/ops/point_pair_features.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "geometry/normalize.h"
#include "geometry/operators.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

constexpr int64_t rows_per_task = 64;

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Vector over(const Vector& a, double length) {
  const double by = 1 / std::max(length, smallest_pair_length);
  return {a[0] * by, a[1] * by, a[2] * by};
}

double length_of(const Vector& a) {
  return std::sqrt(dot(a, a));
}

// Increases with the angle of (x, y), from -2 to 2.
double pseudo_angle(double x, double y) {
  const double sum = std::abs(x) + std::abs(y), cosine = sum > 0 ? x / sum : 1;
  return y < 0 ? cosine - 1 : 1 - cosine;
}

struct Neighbour {
  Vector direction;
  double distance, angle;
  int64_t column, row;
};

template <typename T>
struct PairFeatures {
  const double* points;  // centred
  const T* normals;      // null without normals
  const int64_t* index;
  int64_t columns;
  T* out;

  Vector point(int64_t row) const { return {points[3 * row], points[3 * row + 1], points[3 * row + 2]}; }
  Vector normal(int64_t row) const {
    if (!normals) return over(point(row), length_of(point(row)));
    return {static_cast<double>(normals[3 * row]), static_cast<double>(normals[3 * row + 1]),
            static_cast<double>(normals[3 * row + 2])};
  }

  // Finds the neighbours of `row` that exist, in the order of the columns. Returns the sum of their squared distances.
  double find(int64_t row, const Vector& first, const Vector& second, std::vector<Neighbour>& around) const {
    around.clear();
    const Vector p = point(row);
    double square = 0;
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t other = index[row * columns + column];
      if (other < 0) continue;
      const Vector q = point(other), d{q[0] - p[0], q[1] - p[1], q[2] - p[2]};
      const double distance = length_of(d);
      if (distance <= smallest_pair_length) continue;
      const Vector u = over(d, distance);
      around.push_back({u, distance, pseudo_angle(dot(u, first), dot(u, second)), column, other});
      square += distance * distance;
    }
    return square;
  }

  void write(int64_t row, std::vector<Neighbour>& around) const {
    T* to = out + row * columns * point_pair_channels;
    const Vector n = normal(row), p = point(row);
    Vector axis{0, 0, 0};
    axis[static_cast<size_t>(
        std::min_element(n.begin(), n.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }) -
        n.begin())] = 1;
    const Vector across = cross(n, axis), first = over(across, length_of(across)), second = cross(n, first);
    const double square = find(row, first, second, around);
    if (around.empty()) {
      std::fill(to, to + columns * point_pair_channels, T(0));
      return;
    }
    const double scale = std::max(std::sqrt(square / static_cast<double>(around.size())), smallest_pair_length);
    const int64_t front = around.front().column;
    std::stable_sort(around.begin(), around.end(),
                     [](const Neighbour& a, const Neighbour& b) { return a.angle < b.angle; });
    const double radius = length_of(p);
    const Vector outward = over(p, radius);
    for (size_t k = 0; k < around.size(); ++k) {
      const Neighbour& j = around[k];
      const Vector m = normal(j.row);
      const double channels[point_pair_channels] = {j.distance / scale,
                                                    dot(n, j.direction),
                                                    dot(m, j.direction),
                                                    dot(n, m),
                                                    dot(j.direction, around[(k + 1) % around.size()].direction),
                                                    (length_of(point(j.row)) - radius) / scale,
                                                    dot(outward, j.direction)};
      std::transform(std::begin(channels), std::end(channels), to + j.column * point_pair_channels,
                     [](double value) { return static_cast<T>(value); });
    }
    if (static_cast<int64_t>(around.size()) == columns) return;
    std::vector<char> exists(static_cast<size_t>(columns), 0);
    for (const Neighbour& j : around) exists[static_cast<size_t>(j.column)] = 1;
    for (int64_t column = 0; column < columns; ++column) {
      if (exists[static_cast<size_t>(column)]) continue;
      std::copy_n(to + front * point_pair_channels, point_pair_channels, to + column * point_pair_channels);
    }
  }
};

at::Tensor point_pair_features_cpu(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                   const at::Tensor& index, const std::optional<at::Tensor>& ptr) {
  check_point_pairs(points, normals, index, ptr);
  TORCH_CHECK(points.scalar_type() == at::kFloat || points.scalar_type() == at::kDouble,
              "points must be float32 or float64, got ", points.scalar_type());
  const int64_t rows = points.size(0), columns = index.size(1);
  const at::Tensor result = at::empty({rows, columns, point_pair_channels}, points.options());
  if (result.numel() == 0) return result;
  TORCH_CHECK(index.max().item<int64_t>() < rows, "index must be below ", rows, ", got ", index.max().item<int64_t>());
  const at::Tensor centred = centred_points(points, ptr).to(at::kDouble).contiguous(), near = index.contiguous();
  const at::Tensor directions = given(normals) ? normals->to(points.scalar_type()).contiguous() : at::Tensor();
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "point_pair_features", [&] {
    const PairFeatures<scalar_t> features{centred.const_data_ptr<double>(),
                                          directions.defined() ? directions.const_data_ptr<scalar_t>() : nullptr,
                                          near.const_data_ptr<int64_t>(), columns, result.data_ptr<scalar_t>()};
    at::parallel_for(0, rows, rows_per_task, [&](int64_t begin, int64_t end) {
      std::vector<Neighbour> around;
      around.reserve(static_cast<size_t>(columns));
      for (int64_t row = begin; row < end; ++row) features.write(row, around);
    });
  });
  return result;
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_point_pair_features", point_pair_features_cpu);
}

}  // namespace
}  // namespace geosft
