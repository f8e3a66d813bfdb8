// SPDX-License-Identifier: Apache-2.0
#include "geometry/normals.h"

#include <ATen/Parallel.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <vector>

#include "geometry/knn.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/points.h"

namespace geosft {
namespace {

using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>;

// Returns the eigenvectors of the neighbours' covariance, by ascending eigenvalue; these are in a unit of their own.
Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> principal_axes(const Rows& points, const int64_t* neighbours,
                                                              int64_t count) {
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  // Relative to the point itself (its first neighbour), so that clouds far from the origin lose no precision.
  const Eigen::Vector3d origin = points.row(neighbours[0]);
  for (int64_t j = 0; j < count; ++j) mean += points.row(neighbours[j]).transpose() - origin;
  mean /= static_cast<double>(count);
  Eigen::Matrix3d covariance = Eigen::Matrix3d::Zero();
  for (int64_t j = 0; j < count; ++j) {
    const Eigen::Vector3d offset = points.row(neighbours[j]).transpose() - origin - mean;
    covariance += offset * offset.transpose();
  }
  // Scaled to unit size: the thresholds of the solver are absolute for tiny numbers.
  const double scale = covariance.cwiseAbs().maxCoeff();
  if (scale > 0) covariance /= scale;
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(covariance);
}

// The undirected neighbour graph of one item: rows are relative to the item.
class NeighbourGraph {
 public:
  NeighbourGraph(const int64_t* index, int64_t k, int64_t first, int64_t count) : starts_(count + 1, 0) {
    for_each_edge(index, k, first, count, [&](int64_t row, int64_t) { ++starts_[row + 1]; });
    for (int64_t row = 0; row < count; ++row) starts_[row + 1] += starts_[row];
    ends_.resize(starts_.back());
    std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
    for_each_edge(index, k, first, count, [&](int64_t row, int64_t other) { ends_[next[row]++] = other; });
  }
  const int64_t* begin(int64_t row) const { return ends_.data() + starts_[row]; }
  const int64_t* end(int64_t row) const { return ends_.data() + starts_[row + 1]; }

 private:
  template <typename Visit>
  static void for_each_edge(const int64_t* index, int64_t k, int64_t first, int64_t count, Visit visit) {
    for (int64_t row = 0; row < count; ++row) {
      for (const int64_t* other = index + row * k; other != index + (row + 1) * k && *other >= 0; ++other) {
        visit(row, *other - first);
        visit(*other - first, row);
      }
    }
  }
  std::vector<int64_t> starts_, ends_;
};

// Makes the signs of one item's normals consistent, by Prim's algorithm from the outermost row of each connected
// component.
class Orientation {
 public:
  Orientation(const Rows& points, Rows& normals, const NeighbourGraph& graph)
      : points_(points),
        normals_(normals),
        graph_(graph),
        done_(points.rows(), false),
        cheapest_(points.rows(), std::numeric_limits<double>::infinity()) {}

  void run() {
    const Eigen::RowVector3d centroid = points_.colwise().mean();
    std::vector<int64_t> outermost_first(points_.rows());
    for (size_t i = 0; i < outermost_first.size(); ++i) outermost_first[i] = static_cast<int64_t>(i);
    const Eigen::VectorXd dist2 = (points_.rowwise() - centroid).rowwise().squaredNorm();
    std::stable_sort(outermost_first.begin(), outermost_first.end(),
                     [&](int64_t a, int64_t b) { return dist2[a] > dist2[b]; });
    for (const int64_t row : outermost_first) {
      if (done_[row]) continue;
      if (normals_.row(row).dot(points_.row(row) - centroid) < 0) normals_.row(row) *= -1;
      grow_from(row);
    }
  }

 private:
  using Edge = std::tuple<double, int64_t, int64_t>;  // cost, new row, row that is already oriented

  void grow_from(int64_t row) {
    finish(row);
    while (!edges_.empty()) {
      const auto [cost, to, from] = edges_.top();
      edges_.pop();
      if (done_[to]) continue;
      if (normals_.row(to).dot(normals_.row(from)) < 0) normals_.row(to) *= -1;
      finish(to);
    }
  }

  void finish(int64_t row) {
    done_[row] = true;
    for (const int64_t* other = graph_.begin(row); other != graph_.end(row); ++other) {
      const double cost = 1 - std::abs(normals_.row(row).dot(normals_.row(*other)));
      if (done_[*other] || cost >= cheapest_[*other]) continue;
      cheapest_[*other] = cost;
      edges_.emplace(cost, *other, row);
    }
  }

  const Rows& points_;
  Rows& normals_;
  const NeighbourGraph& graph_;
  std::vector<bool> done_;
  std::vector<double> cheapest_;  // minimum cost of an edge to a row so far: costlier edges need not be queued
  std::priority_queue<Edge, std::vector<Edge>, std::greater<>> edges_;
};

void point_outward(const Rows& points, Rows& normals) {
  const Eigen::RowVector3d centroid = points.colwise().mean();
  for (int64_t row = 0; row < points.rows(); ++row) {
    if (normals.row(row).dot(points.row(row) - centroid) < 0) normals.row(row) *= -1;
  }
}

void orient_items(double* points, double* normals, const int64_t* index, int64_t k, const std::vector<int64_t>& offsets,
                  NormalOrientation orientation) {
  at::parallel_for(0, static_cast<int64_t>(offsets.size()) - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = offsets[b], count = offsets[b + 1] - first;
      if (count == 0) continue;
      const Rows item(points + 3 * first, count, 3);
      Rows item_normals(normals + 3 * first, count, 3);
      if (orientation == NormalOrientation::outward) {
        point_outward(item, item_normals);
        continue;
      }
      const NeighbourGraph graph(index + first * k, k, first, count);
      Orientation(item, item_normals, graph).run();
    }
  });
}

// The points of a packed batch without copies, each item's in the order of its rows.
struct DistinctPoints {
  std::vector<int64_t> row;  // the first row of each
  std::vector<int64_t> ptr;  // the offsets of the items
  std::vector<int64_t> of;   // the point of each row
};

DistinctPoints distinct_points(const Rows& points, const std::vector<int64_t>& offsets) {
  DistinctPoints distinct{{}, {0}, std::vector<int64_t>(points.rows())};
  const auto place = [&](int64_t row) { return std::tuple(points(row, 0), points(row, 1), points(row, 2)); };
  for (size_t b = 1; b < offsets.size(); ++b) {
    std::vector<int64_t> sorted(offsets[b] - offsets[b - 1]);
    std::iota(sorted.begin(), sorted.end(), offsets[b - 1]);
    std::sort(sorted.begin(), sorted.end(), [&](int64_t one, int64_t other) {
      const auto first = place(one), second = place(other);
      return first != second ? first < second : one < other;
    });
    for (size_t i = 0; i < sorted.size(); ++i) {  // the first row at the place of each
      const bool is_copy = i > 0 && place(sorted[i]) == place(sorted[i - 1]);
      distinct.of[sorted[i]] = is_copy ? distinct.of[sorted[i - 1]] : sorted[i];
    }
    for (int64_t row = offsets[b - 1]; row < offsets[b]; ++row) {
      const int64_t first = distinct.of[row];
      distinct.of[row] = first < row ? distinct.of[first] : static_cast<int64_t>(distinct.row.size());
      if (first == row) distinct.row.push_back(row);
    }
    distinct.ptr.push_back(static_cast<int64_t>(distinct.row.size()));
  }
  return distinct;
}

// For the models in Python.
GEOSFT_OPERATORS(m) {
  m.def("_estimate_normals(Tensor points, int neighbours=16, Tensor? ptr=None, bool outward=False) -> Tensor");
  m.def("_unit_normals(Tensor normals) -> Tensor");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_unit_normals", unit_normals);
  m.impl("_estimate_normals",
         [](const at::Tensor& points, int64_t neighbours, const std::optional<at::Tensor>& ptr, bool outward) {
           return estimate_normals(points, neighbours, ptr,
                                   outward ? NormalOrientation::outward : NormalOrientation::consistent);
         });
}

}  // namespace

at::Tensor estimate_normals(const at::Tensor& points, int64_t neighbours, const std::optional<at::Tensor>& ptr,
                            NormalOrientation orientation) {
  check_points(points, "points");
  TORCH_CHECK(points.is_cpu(), "points must be on the CPU, not on ", points.device());
  TORCH_CHECK(neighbours >= 3, "neighbours must be at least 3, got ", neighbours);
  const std::vector<int64_t> offsets = packed_offsets(ptr, points.size(0), "ptr");
  const int64_t n = points.size(0), k = std::min(neighbours, std::max<int64_t>(n, 1));
  at::Tensor doubles = points.detach().to(at::kDouble).contiguous();
  const Rows rows(doubles.data_ptr<double>(), n, 3);
  const auto [index, dist2] = knn(doubles, doubles, k, ptr, ptr);
  // Copies would take the places of neighbours. A distance of 0 alone is none: squares of tiny differences underflow.
  if (k > 1 && dist2.select(1, 1).eq(0).any().item<bool>()) {
    const DistinctPoints distinct = distinct_points(rows, offsets);
    if (static_cast<int64_t>(distinct.row.size()) < n) {
      return estimate_normals(points.index_select(0, at::tensor(distinct.row, at::kLong)), neighbours,
                              at::tensor(distinct.ptr, at::kLong), orientation)
          .index_select(0, at::tensor(distinct.of, at::kLong));
    }
  }
  at::Tensor normals = at::empty_like(doubles);
  const int64_t* neighbour = index.const_data_ptr<int64_t>();
  Rows out(normals.data_ptr<double>(), n, 3);
  at::parallel_for(0, n, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t* first = neighbour + i * k;
      const int64_t count = std::find(first, first + k, int64_t{-1}) - first;
      out.row(i) = principal_axes(rows, first, count).eigenvectors().col(0).normalized();
    }
  });
  orient_items(doubles.data_ptr<double>(), normals.data_ptr<double>(), neighbour, k, offsets, orientation);
  return normals.to(points.scalar_type());
}

NeighbourPlanes neighbour_planes(const at::Tensor& points, const at::Tensor& rows, int64_t neighbours) {
  check_points(points, "points");
  TORCH_CHECK(rows.dim() == 1 && rows.scalar_type() == at::kLong, "rows must be int64 [Q], got ", rows.scalar_type(),
              " ", rows.sizes());
  TORCH_CHECK(points.is_cpu() && rows.is_cpu(), "points and rows must be on the CPU, not on ", points.device(), " and ",
              rows.device());
  TORCH_CHECK(neighbours >= 3, "neighbours must be at least 3, got ", neighbours);
  const int64_t n = points.size(0), k = std::min(neighbours, n), count = rows.size(0);
  NeighbourPlanes planes{at::empty({count, 3}, at::kDouble), at::empty({count, 3}, at::kDouble)};
  if (count == 0) return planes;
  const int64_t first = rows.min().item<int64_t>(), last = rows.max().item<int64_t>();
  TORCH_CHECK(first >= 0 && last < n, "rows must be at least 0 and below the number of points, ", n, ", got ", first,
              " to ", last);
  at::Tensor doubles = points.detach().to(at::kDouble).contiguous();
  const Rows cloud(doubles.data_ptr<double>(), n, 3);
  const at::Tensor index = std::get<0>(knn(doubles, doubles.index_select(0, rows), k));
  const int64_t* neighbour = index.const_data_ptr<int64_t>();
  Rows normals(planes.normals.data_ptr<double>(), count, 3), variances(planes.variances.data_ptr<double>(), count, 3);
  for (int64_t i = 0; i < count; ++i) {
    const auto axes = principal_axes(cloud, neighbour + i * k, k);
    normals.row(i) = axes.eigenvectors().col(0).normalized();
    variances.row(i) = axes.eigenvalues();
  }
  return planes;
}

at::Tensor unit_normals(const at::Tensor& normals) {
  constexpr double rounding = 1e-6;
  TORCH_CHECK(normals.defined() && normals.dim() >= 1 && normals.size(-1) == 3,
              "normals must have shape [..., 3], got ", normals.defined() ? normals.sizes() : at::IntArrayRef());
  TORCH_CHECK(normals.scalar_type() == at::kFloat || normals.scalar_type() == at::kDouble,
              "normals must be float32 or float64, not ", normals.scalar_type());
  const at::Tensor exact = normals.to(at::kDouble), largest = exact.abs().amax(-1, /*keepdim=*/true);
  const at::Tensor present = largest > 0, zero = at::zeros({}, at::kDouble);
  const at::Tensor relative = at::where(present, exact / largest, zero);  // whose squares are in range
  const at::Tensor length = relative.norm(2, -1, /*keepdim=*/true);
  const at::Tensor scaled = at::where(present, relative / length, zero).to(normals.scalar_type());
  return at::where((length * largest - 1).abs() > rounding, scaled, normals);
}

}  // namespace geosft
