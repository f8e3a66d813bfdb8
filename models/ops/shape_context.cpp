// SPDX-License-Identifier: Apache-2.0
#include "models/ops/shape_context.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "geometry/device_offsets.h"
#include "geometry/no_autocast.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

constexpr int64_t shells = shape_context_shells, angles = shape_context_angles;
constexpr int64_t angle_kinds = 3;
constexpr double farthest = 2.0;   // two points of a unit ball
constexpr double nearest = 0.01;   // below it a direction fades, so that equal points have none
constexpr double soft = 0.0002;    // added to a distance, since the slope of its root is infinite at 0
constexpr double contrast = 64.0;  // of the logarithm: shares of few pairs count, too

int64_t reference_count(int64_t points) {
  return std::min(points, shape_context_references);
}

// Returns the row of reference `k` of `count`, in a cloud of so many points.
int64_t reference_row(int64_t k, int64_t count, int64_t points) {
  return ((k + 1) * points + count - 1) / count - 1;
}

// Returns where a distance lies from the first shell to the last, from 0 to 1.
template <typename T>
T shell_position(T distance) {
  const T scale = 1 / (std::sqrt(T(farthest + soft)) - std::sqrt(T(soft)));
  return (std::sqrt(std::min(distance, T(farthest)) + T(soft)) - std::sqrt(T(soft))) * scale;
}

// Says where a value lies between two nodes.
template <typename T>
struct Place {
  int64_t node;  // the lower one
  T upper;       // share of the upper one

  Place(T position, int64_t nodes)
      : node(position > 0 ? std::min(static_cast<int64_t>(position), nodes - 2) : 0),  // 0 for NaN
        upper(position - static_cast<T>(node)) {}
};

// Holds the references of a cloud.
template <typename T>
struct References {
  std::vector<int64_t> rows;  // of the packed points
  std::vector<std::array<T, 3>> points, normals;

  References(const T* all_points, const T* all_normals, int64_t begin, int64_t end) {
    const int64_t count = reference_count(end - begin);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t row = begin + reference_row(k, count, end - begin);
      rows.push_back(row);
      points.push_back({all_points[3 * row], all_points[3 * row + 1], all_points[3 * row + 2]});
      if (all_normals == nullptr) continue;
      normals.push_back({all_normals[3 * row], all_normals[3 * row + 1], all_normals[3 * row + 2]});
    }
  }
};

template <typename T>
T dot(const std::array<T, 3>& a, const std::array<T, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Adds a pair to a histogram [shells, angles], or [shells] without an angle.
template <typename T>
void add(T* histogram, const Place<T>& shell, const Place<T>& angle) {
  T* const lower = histogram + shell.node * angles + angle.node;
  const T outer = shell.upper, inner = 1 - outer;
  lower[0] += inner * (1 - angle.upper);
  lower[1] += inner * angle.upper;
  lower[angles] += outer * (1 - angle.upper);
  lower[angles + 1] += outer * angle.upper;
}

template <typename T>
Place<T> angle_place(T cosine) {
  return {std::clamp((cosine + 1) / 2, T(0), T(1)) * static_cast<T>(angles - 1), angles};
}

// Writes the context of a row, with its normal or a null pointer.
template <typename T>
void write_context(const References<T>& references, const T* point, const T* normal, int64_t row, T* to) {
  const std::array<T, 3> p{point[0], point[1], point[2]};
  const std::array<T, 3> n = normal == nullptr ? p : std::array<T, 3>{normal[0], normal[1], normal[2]};
  const int64_t channels = shape_context_channels(normal != nullptr);
  std::fill(to, to + channels, T(0));
  int64_t pairs = 0;
  for (size_t k = 0; k < references.rows.size(); ++k) {
    if (references.rows[k] == row) continue;
    ++pairs;
    const std::array<T, 3>& q = references.points[k];
    const std::array<T, 3> apart{q[0] - p[0], q[1] - p[1], q[2] - p[2]};
    const T distance = std::sqrt(dot(apart, apart));
    const Place<T> shell(shell_position(distance) * static_cast<T>(shells - 1), shells);
    if (normal == nullptr) {
      to[shell.node] += 1 - shell.upper;
      to[shell.node + 1] += shell.upper;
      continue;
    }
    const T scale = 1 / std::max(distance, T(nearest));
    const std::array<T, 3>& m = references.normals[k];
    add(to, shell, angle_place(dot(apart, n) * scale));
    add(to + shells * angles, shell, angle_place(dot(n, m)));
    add(to + 2 * shells * angles, shell, angle_place(dot(apart, m) * scale));
  }
  const T share = pairs == 0 ? T(0) : T(contrast) / static_cast<T>(pairs);
  for (int64_t channel = 0; channel < channels; ++channel) to[channel] = std::log1p(share * to[channel]);
}

at::Tensor shape_context_cpu(const at::Tensor& points_in, const at::Tensor& normals_in,
                             const std::optional<at::Tensor>& ptr) {
  constexpr int64_t rows_per_task = 16;
  const bool with_normals = normals_in.defined();
  const at::Tensor points = points_in.contiguous(),
                   normals = with_normals ? normals_in.to(points.scalar_type()).contiguous() : at::Tensor();
  const std::vector<int64_t> offsets = packed_offsets(ptr, points.size(0), "ptr");
  const int64_t channels = shape_context_channels(with_normals);
  at::Tensor result = at::empty({points.size(0), channels}, points.options());
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "shape_context", [&] {
    const scalar_t* const p = points.const_data_ptr<scalar_t>();
    const scalar_t* const n = with_normals ? normals.const_data_ptr<scalar_t>() : nullptr;
    scalar_t* const to = result.mutable_data_ptr<scalar_t>();
    for (size_t item = 0; item + 1 < offsets.size(); ++item) {
      const References<scalar_t> references(p, n, offsets[item], offsets[item + 1]);
      at::parallel_for(offsets[item], offsets[item + 1], rows_per_task, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          write_context(references, p + 3 * row, n == nullptr ? nullptr : n + 3 * row, row, to + channels * row);
        }
      });
    }
  });
  return result;
}

// Returns the shares of `nodes` evenly spaced nodes from 0 to 1 in values [N, R]: [N, R, nodes].
at::Tensor node_shares(const at::Tensor& values, int64_t nodes) {
  const at::Tensor at_nodes = at::arange(nodes, values.options());
  const at::Tensor position = values.clamp(0, 1) * static_cast<double>(nodes - 1);
  return (1 - (position.unsqueeze(-1) - at_nodes).abs()).clamp_min(0);
}

}  // namespace

int64_t shape_context_channels(bool normals) {
  return normals ? angle_kinds * shells * angles : shells;
}

at::Tensor composite_shape_context(const at::Tensor& points, const at::Tensor& normals,
                                   const std::optional<at::Tensor>& ptr) {
  const int64_t rows = points.size(0);
  const at::Tensor item = item_of_row_on_device(ptr, rows, points.device());
  const at::Tensor offsets =
      given(ptr) ? ptr_on_device(ptr, points.device(), "ptr")
                 : at::arange(0, 2 * std::max<int64_t>(rows, 1), std::max<int64_t>(rows, 1), item.options());
  const at::Tensor count = at::diff(offsets).unsqueeze(1), used = count.clamp_max(shape_context_references);
  const at::Tensor k = at::arange(1, shape_context_references + 1, item.options()).unsqueeze(0);
  const at::Tensor place = (k * count + used - 1).div(used.clamp_min(1), "floor") - 1;
  const at::Tensor exists = (k <= used).index_select(0, item);
  const at::Tensor row = at::where(k <= used, offsets.slice(0, 0, -1).unsqueeze(1) + place, 0).index_select(0, item);
  const at::Tensor other = row != at::arange(rows, item.options()).unsqueeze(1);
  const at::Tensor pair = (exists & other).to(points.scalar_type());
  const auto of_references = [&](const at::Tensor& x) {
    return x.index_select(0, row.flatten()).view({rows, shape_context_references, 3});
  };
  const at::Tensor apart = of_references(points) - points.unsqueeze(1), distance = apart.norm(2, -1);
  const at::Tensor share = (pair / pair.sum(1, true).clamp_min(1)).unsqueeze(-1);
  const double begin = std::sqrt(soft);
  const at::Tensor position =
      ((distance.clamp_max(farthest) + soft).sqrt() - begin) / (std::sqrt(farthest + soft) - begin);
  const at::Tensor in_shells = node_shares(position, shells) * share;
  if (!normals.defined()) return (contrast * in_shells.sum(1)).log1p();
  const at::Tensor direction = apart / distance.clamp_min(nearest).unsqueeze(-1), there = of_references(normals),
                   here = normals.unsqueeze(1);
  std::vector<at::Tensor> histograms;
  for (const at::Tensor& cosine : {(direction * here).sum(-1), (here * there).sum(-1), (direction * there).sum(-1)}) {
    const at::Tensor in_angles = node_shares((cosine + 1) / 2, angles);
    histograms.push_back(at::bmm(in_shells.transpose(1, 2), in_angles).flatten(1));
  }
  return (contrast * at::cat(histograms, 1)).log1p();
}

at::Tensor shape_context(const at::Tensor& points, const at::Tensor& normals, const std::optional<at::Tensor>& ptr) {
  at::NoGradGuard guard;
  const NoAutocast no_autocast;
  const bool kernel = points.is_cpu() && (points.scalar_type() == at::kFloat || points.scalar_type() == at::kDouble);
  return kernel ? shape_context_cpu(points, normals, ptr) : composite_shape_context(points, normals, ptr);
}

}  // namespace geosft
