// SPDX-License-Identifier: Apache-2.0
// Computes the random numbers of augment_clouds and the transform of a point, shared by CPU and GPU. All random numbers
// are functions of (seed of the cloud, row within it, stream).
#pragma once

#include "geometry/augment_options.h"
#include "geometry/philox.h"

namespace geosft {

namespace augment_stream {
inline constexpr uint64_t choice = 0, noise = 1, more_noise = 2, cloud = 3;
}

// Random keys of a row: the rows with the smallest keys are chosen. One key for the subset and one for dropping points.
struct RowKeys {
  uint64_t subset, drop;
};
GEOSFT_HOST_DEVICE inline RowKeys row_keys(uint64_t seed, int64_t row) {
  const PhiloxBlock bits = philox(seed, static_cast<uint64_t>(row), augment_stream::choice);
  return {bits.first(), bits.second()};
}

// A unit quaternion w + x i + y j + z k.
struct Quaternion {
  double w, x, y, z;
};
GEOSFT_HOST_DEVICE inline Quaternion random_rotation(uint64_t seed, Rotation rotation) {
  const PhiloxBlock bits = philox(seed, 2, augment_stream::cloud);
  if (rotation == Rotation::z) {
    const double half_angle = 3.141592653589793 * open_uniform(bits.first());
    return {std::cos(half_angle), 0, 0, std::sin(half_angle)};
  }
  if (rotation == Rotation::none) return {1, 0, 0, 0};
  const NormalPair a = normal_pair(bits), b = normal_pair(philox(seed, 3, augment_stream::cloud));
  const double length = std::sqrt(a.first * a.first + a.second * a.second + b.first * b.first + b.second * b.second);
  return {a.first / length, a.second / length, b.first / length, b.second / length};
}

// The transform of one cloud: matrices that act on columns (points, normals), and the scale factor after normalization.
struct CloudPose {
  double point[3][3], normal[3][3];
  double scale;
};
GEOSFT_HOST_DEVICE inline CloudPose cloud_pose(uint64_t seed, const AugmentOptions& options) {
  const PhiloxBlock a = philox(seed, 0, augment_stream::cloud), b = philox(seed, 1, augment_stream::cloud);
  const uint64_t of_axis[3] = {a.first(), a.second(), b.first()};
  const Quaternion q = random_rotation(seed, options.rotation);
  const double turn[3][3] = {
      {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.z * q.w), 2 * (q.x * q.z + q.y * q.w)},
      {2 * (q.x * q.y + q.z * q.w), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.x * q.w)},
      {2 * (q.x * q.z - q.y * q.w), 2 * (q.y * q.z + q.x * q.w), 1 - 2 * (q.x * q.x + q.y * q.y)}};
  CloudPose pose;
  pose.scale = uniform_between(options.scale_low, options.scale_high, b.second());
  for (int axis = 0; axis < 3; ++axis) {
    const double factor = std::exp(uniform_between(-options.stretch, options.stretch, of_axis[axis]));
    for (int i = 0; i < 3; ++i) {
      pose.point[i][axis] = turn[i][axis] * factor;
      pose.normal[i][axis] = turn[i][axis] / factor;
    }
  }
  return pose;
}

struct Vector3 {
  double x[3];
};

template <typename T>
GEOSFT_HOST_DEVICE inline Vector3 mapped(const double (&by)[3][3], const T* row) {
  Vector3 to;
  for (int i = 0; i < 3; ++i) {
    to.x[i] = by[i][0] * static_cast<double>(row[0]) + by[i][1] * static_cast<double>(row[1]) +
              by[i][2] * static_cast<double>(row[2]);
  }
  return to;
}

// Returns the clipped noise of one coordinate.
GEOSFT_HOST_DEVICE inline double clipped(double normal, const AugmentOptions& options) {
  const double noise = normal * options.jitter;
  return noise < -options.jitter_clip ? -options.jitter_clip
                                      : (noise > options.jitter_clip ? options.jitter_clip : noise);
}

// Writes row `row` of the normalized cloud to `out`: scaled, jittered and rounded.
template <typename T>
GEOSFT_HOST_DEVICE inline void write_point(const Vector3& unit, const CloudPose& pose, uint64_t seed, int64_t row,
                                           const AugmentOptions& options, T* out) {
  double noise[3] = {0, 0, 0};
  if (options.jitter > 0) {
    const NormalPair a = normal_pair(philox(seed, static_cast<uint64_t>(row), augment_stream::noise));
    const NormalPair b = normal_pair(philox(seed, static_cast<uint64_t>(row), augment_stream::more_noise));
    noise[0] = clipped(a.first, options);
    noise[1] = clipped(a.second, options);
    noise[2] = clipped(b.first, options);
  }
  for (int i = 0; i < 3; ++i) out[i] = static_cast<T>(pose.scale * unit.x[i] + noise[i]);
}

// Writes the transformed normal to `out`, rounded.
template <typename T>
GEOSFT_HOST_DEVICE inline void write_normal(const T* row, const CloudPose& pose, const AugmentOptions& options,
                                            T* out) {
  const Vector3 moved = mapped(pose.normal, row);
  double length = 1;
  if (options.stretch > 0) {
    length = std::sqrt(moved.x[0] * moved.x[0] + moved.x[1] * moved.x[1] + moved.x[2] * moved.x[2]);
    if (length < 1e-12) length = 1e-12;
  }
  for (int i = 0; i < 3; ++i) out[i] = static_cast<T>(moved.x[i] / length);
}

}  // namespace geosft
