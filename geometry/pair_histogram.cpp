// SPDX-License-Identifier: Apache-2.0
#include "geometry/pair_histogram.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "geometry/canonical_pose.h"
#include "geometry/normalize.h"
#include "geometry/operators.h"
#include "geometry/points.h"

namespace geosft {
namespace {

// Ends of the shells but the last, in hundredths of the mean distance.
constexpr std::array<int, 19> shell_ends = {4,  8,  12, 16, 20,  25,  30,  36,  42, 50,
                                            60, 70, 80, 95, 110, 130, 150, 175, 210};
constexpr int64_t shells = shell_ends.size() + 1;
constexpr int64_t angle_bins = 5;
constexpr int64_t bins_of_shell = angle_bins * angle_bins * angle_bins;
constexpr int64_t axis_bins = 16, axis_normal_bins = 4;
constexpr double axis_reach = 3.2;  // of the mean absolute coordinate
// Points of the neighbourhoods, in 128ths of all.
constexpr int64_t small_share = 3, medium_share = 8, large_share = 24, whole = 128;
constexpr int64_t shape_bins = 6, radius_bins = 26, offset_bins = 8;
constexpr int64_t shape_columns = shape_bins * shape_bins * shape_bins;
constexpr int64_t offset_columns = offset_bins * offset_bins;
constexpr double sum_of_part = 5000;
static_assert(shells * bins_of_shell == 2 * pair_histogram_bins &&
              3 * axis_bins * axis_normal_bins <= pair_histogram_bins &&
              shape_columns + radius_bins * shape_bins <= pair_histogram_bins);

// Returns `count` of `total` rows, evenly spaced; all of them if there are no more.
std::vector<int64_t> spaced_rows(int64_t total, int64_t count) {
  count = std::min(total, count);
  std::vector<int64_t> rows(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) rows[static_cast<size_t>(i)] = i * total / count;
  return rows;
}

// The shell of each hundredth of the mean distance.
std::array<int64_t, shell_ends.back() + 1> shell_table() {
  std::array<int64_t, shell_ends.back() + 1> shell_of{};
  for (int i = 0; i <= shell_ends.back(); ++i) {
    shell_of[static_cast<size_t>(i)] = std::upper_bound(shell_ends.begin(), shell_ends.end(), i) - shell_ends.begin();
  }
  return shell_of;
}

// Returns the bin of a value, of some of equal width from `low` to `high`; values beyond are in the outermost ones.
int64_t bin_of(double value, double low, double high, int64_t bins) {
  const double place = (value - low) * (static_cast<double>(bins) / (high - low));
  return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(bins - 1)));
}

int64_t angle_bin(double cosine) {
  return bin_of(cosine, -1, 1, angle_bins);
}

// The points and normals of a cloud, [n, 3] each.
struct OrientedPoints {
  const double *points, *normals;
  int64_t count;

  static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  std::array<double, 3> offset(int64_t i, int64_t j) const {
    const double *const from = points + 3 * i, *const to = points + 3 * j;
    return {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  }
  double distance(int64_t i, int64_t j) const {
    const std::array<double, 3> d = offset(i, j);
    return std::sqrt(dot(d.data(), d.data()));
  }
};

// Returns the mean distance of the pairs at different places, 0 if there are none.
double mean_distance(const OrientedPoints& cloud, const std::vector<int64_t>& centres) {
  double sum = 0, pairs = 0;
  for (const int64_t i : centres) {
    for (int64_t j = 0; j < cloud.count; ++j) {
      const double distance = cloud.distance(i, j);
      sum += distance;
      pairs += distance > 0;
    }
  }
  return pairs > 0 ? sum / pairs : 0;
}

// Adds the counts of the pairs of centres to the first two parts.
void count_pairs(const OrientedPoints& cloud, const std::vector<int64_t>& centres, double mean,
                 std::vector<double>& counts) {
  const auto shell_of = shell_table();
  const double hundredths = 100 / mean;
  for (const int64_t i : centres) {
    const double* const normal = cloud.normals + 3 * i;
    for (int64_t j = 0; j < cloud.count; ++j) {
      const std::array<double, 3> d = cloud.offset(i, j);
      const double length = std::sqrt(OrientedPoints::dot(d.data(), d.data()));
      if (length == 0) continue;
      const double* const other = cloud.normals + 3 * j;
      const auto place = std::min(static_cast<size_t>(length * hundredths), shell_of.size() - 1);
      const int64_t alike = shell_of[place] * angle_bins + angle_bin(OrientedPoints::dot(normal, other));
      const int64_t first = angle_bin(OrientedPoints::dot(normal, d.data()) / length),
                    second = angle_bin(-OrientedPoints::dot(other, d.data()) / length);
      counts[static_cast<size_t>((alike * angle_bins + first) * angle_bins + second)] += 1;
      counts[static_cast<size_t>((alike * angle_bins + second) * angle_bins + first)] += 1;
    }
  }
}

// Sums over the neighbourhood of a point.
struct Neighbourhood {
  int64_t radius = 0, size = 0;                      // in hundredths of the mean distance, and in points
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();  // from the centre
  double similarity = 0;                             // of normals
};

// Returns the radius, in hundredths, within which a share of the points is, and their number there.
Neighbourhood neighbourhood_of(const std::vector<int64_t>& within, int64_t share) {
  const int64_t count = (within.back() * share + whole - 1) / whole;
  const auto found = std::lower_bound(within.begin(), within.end(), count);
  return {found - within.begin() + 1, *found};
}

// Returns the bin of a neighbourhood by its linearity, its planarity and the similarity of its normals.
int64_t shape_bin(const Eigen::Matrix3d& covariance, double similarity) {
  const Eigen::Vector3d widths = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(covariance, Eigen::EigenvaluesOnly)
                                     .eigenvalues()
                                     .cwiseMax(0)
                                     .cwiseSqrt();
  const double longest = widths[2] > 0 ? widths[2] : 1;
  const int64_t linear = bin_of((widths[2] - widths[1]) / longest, 0, 1, shape_bins),
                planar = bin_of((widths[1] - widths[0]) / longest, 0, 1, shape_bins);
  return (linear * shape_bins + planar) * shape_bins + bin_of(similarity, 0, 1, shape_bins);
}

// The distances of all points from one of them, in whole hundredths of the mean distance; those beyond the last shell
// are equal.
class DistanceTable {
 public:
  DistanceTable(const OrientedPoints& cloud, double mean)
      : points_(Points(cloud.points, 3, cloud.count).cast<float>().transpose()),
        hundredths_(static_cast<float>(100 / mean)),
        within_(shell_ends.back() + 1) {}

  void measure_from(int64_t i) {
    const auto offsets = points_.rowwise() - points_.row(i);
    const auto lengths = offsets.rowwise().norm().array() * hundredths_;
    place_ = lengths.min(static_cast<float>(shell_ends.back())).cast<int>();
    std::fill(within_.begin(), within_.end(), 0);
    for (const int place : place_) ++within_[static_cast<size_t>(place)];
    std::partial_sum(within_.begin(), within_.end(), within_.begin());
  }
  const Eigen::ArrayXi& places() const { return place_; }
  // Returns, for each place, the number of points there and nearer.
  const std::vector<int64_t>& within() const { return within_; }

 private:
  using Points = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>>;

  Eigen::Matrix<float, Eigen::Dynamic, 3> points_;
  float hundredths_;
  Eigen::ArrayXi place_;
  std::vector<int64_t> within_;
};

// Adds the counts of the neighbourhoods of the centres to the fourth and fifth part.
void count_neighbourhoods(const OrientedPoints& cloud, double mean_of_pairs, std::vector<double>& counts) {
  using Vector = Eigen::Map<const Eigen::Vector3d>;
  DistanceTable table(cloud, mean_of_pairs);
  const Eigen::ArrayXi& place = table.places();
  const std::vector<int64_t>& within = table.within();
  std::vector<int64_t> near(static_cast<size_t>(cloud.count));
  double* const of_shapes = counts.data() + 3 * pair_histogram_bins;
  double* const of_radii = of_shapes + shape_columns;
  double* const of_offsets = counts.data() + 4 * pair_histogram_bins;
  for (const int64_t i : spaced_rows(cloud.count, pair_histogram_neighbourhoods)) {
    table.measure_from(i);
    Neighbourhood small = neighbourhood_of(within, small_share), medium = neighbourhood_of(within, medium_share),
                  large = neighbourhood_of(within, large_share);
    size_t found = 0;  // without a branch, which would be mispredicted
    for (int64_t j = 0; j < cloud.count; ++j) {
      near[found] = j;
      found += place[j] < large.radius;
    }
    const Vector centre(cloud.points + 3 * i), normal(cloud.normals + 3 * i);
    Eigen::Matrix3d second = Eigen::Matrix3d::Zero();
    for (size_t k = 0; k < found; ++k) {
      const int64_t j = near[k];
      const Eigen::Vector3d offset = Vector(cloud.points + 3 * j) - centre;
      large.offset += offset;
      if (place[j] >= medium.radius) continue;
      const double similarity = std::abs(Vector(cloud.normals + 3 * j).dot(normal));
      medium.similarity += similarity;
      if (place[j] >= small.radius) continue;
      small.similarity += similarity;
      small.offset += offset;
      second += offset * offset.transpose();
    }
    const auto mean = [](const auto& sum, const Neighbourhood& of) {
      return (sum / static_cast<double>(of.size)).eval();
    };
    const Eigen::Vector3d centroid = mean(small.offset, small);
    const auto alike = [](const Neighbourhood& some) { return some.similarity / static_cast<double>(some.size); };
    of_shapes[shape_bin(mean(second, small) - centroid * centroid.transpose(), alike(small))] += 1;
    const int64_t radius = bin_of(std::log2(static_cast<double>(medium.radius) / 100), -6, 0.5, radius_bins);
    of_radii[radius * shape_bins + bin_of(alike(medium), 0, 1, shape_bins)] += 1;
    double* columns = of_offsets;
    for (const Neighbourhood& some : {small, large}) {
      const Eigen::Vector3d offset =
          mean(some.offset, some) * (100 / (mean_of_pairs * static_cast<double>(some.radius)));
      const int64_t length = bin_of(offset.norm(), 0, 0.8, offset_bins),
                    height = bin_of(std::abs(offset.dot(normal)), 0, 0.6, offset_bins);
      columns[length * offset_bins + height] += 1;
      columns += offset_columns;
    }
  }
}

// Adds the counts of the points along the axes to the third part. The centroid is the origin.
void count_along_axes(const OrientedPoints& cloud, std::vector<double>& counts) {
  using PointRows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>;
  const PointRows points(cloud.points, cloud.count, 3), normals(cloud.normals, cloud.count, 3);
  const Eigen::Matrix3d axes =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(points.transpose() * points).eigenvectors();
  const Eigen::Matrix<double, Eigen::Dynamic, 3> along = points * axes, turned = normals * axes;
  const double mean = along.size() > 0 ? along.cwiseAbs().mean() : 0;
  if (mean == 0) return;
  for (int axis = 0; axis < 3; ++axis) {
    const double sign = along.col(axis).array().cube().sum() < 0 ? -1 : 1;
    const int64_t first = 2 * pair_histogram_bins + axis * axis_bins * axis_normal_bins;
    for (int64_t i = 0; i < cloud.count; ++i) {
      const int64_t place = bin_of(sign * along(i, axis) / mean, -axis_reach, axis_reach, axis_bins);
      const int64_t normal = bin_of(std::abs(turned(i, axis)), 0, 1, axis_normal_bins);
      counts[static_cast<size_t>(first + place * axis_normal_bins + normal)] += 1;
    }
  }
}

// Gives each part that is not empty the same sum.
void scale_parts(std::vector<double>& counts) {
  for (int64_t part = 0; part < pair_histogram_parts; ++part) {
    const auto begin = counts.begin() + part * pair_histogram_bins, end = begin + pair_histogram_bins;
    double sum = 0;
    for (auto at = begin; at != end; ++at) sum += *at;
    if (sum == 0) continue;
    std::transform(begin, end, begin, [&](double count) { return count * (sum_of_part / sum); });
  }
}

// For the models in Python.
GEOSFT_OPERATORS(m) {
  m.def("_pair_histogram(Tensor points, Tensor normals) -> Tensor");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_pair_histogram", pair_histogram);
}

}  // namespace

at::Tensor pair_histogram(const at::Tensor& points, const at::Tensor& normals) {
  check_points(points, "points");
  check_points(normals, "normals");
  TORCH_CHECK(normals.sizes() == points.sizes(), "normals must have the shape of points, ", points.sizes(), ", got ",
              normals.sizes());
  TORCH_CHECK(points.is_cpu() && normals.is_cpu(), "points and normals must be on the CPU");
  const at::Tensor rows = at::tensor(spaced_rows(points.size(0), pair_histogram_points), at::kLong);
  const at::Tensor directions = normals.detach().index_select(0, rows).contiguous();
  check_finite(directions, "normals");
  const at::Tensor unit = normalize(points.detach().index_select(0, rows).to(at::kDouble)).points;
  const PosedClouds posed = canonical_pose(unit, directions);
  const auto rounded = [](const at::Tensor& exact) { return exact.to(at::kFloat).to(at::kDouble).contiguous(); };
  const at::Tensor seen = rounded(posed.points), seen_normals = rounded(posed.normals);
  const OrientedPoints cloud{seen.const_data_ptr<double>(), seen_normals.const_data_ptr<double>(), seen.size(0)};
  std::vector<double> counts(static_cast<size_t>(pair_histogram_parts * pair_histogram_bins), 0.0);
  const std::vector<int64_t> centres = spaced_rows(cloud.count, pair_histogram_centres);
  const double mean = mean_distance(cloud, centres);
  if (mean > 0) {
    count_pairs(cloud, centres, mean, counts);
    count_neighbourhoods(cloud, mean, counts);
  }
  count_along_axes(cloud, counts);
  scale_parts(counts);
  return at::tensor(counts, at::kDouble).log1p().to(at::kFloat);
}

}  // namespace geosft
