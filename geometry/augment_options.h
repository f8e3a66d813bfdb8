// SPDX-License-Identifier: Apache-2.0
// Defines the options of the augmentation of point clouds, shared by CPU and GPU.
#pragma once

#include <cstdint>
#include <limits>

namespace geosft {

// A random rotation: none, about the z axis by a uniform angle, or uniform over SO(3).
enum class Rotation { none, z, so3 };

// Options of augment_clouds, applied in this order. The defaults only normalize the cloud.
struct AugmentOptions {
  // Maximum number of points, >= 1: a larger cloud is reduced to a random subset of this size.
  int64_t points = std::numeric_limits<int64_t>::max();
  // Stretch along the axes: points are multiplied by exp(u), with an independent u uniform in [-stretch, stretch] for
  // each axis. Normals are divided by it and normalized again. Finite, >= 0; 0 leaves the lengths of normals unchanged.
  double stretch = 0;
  Rotation rotation = Rotation::none;
  // After the cloud is normalized (see normalize.h), it is scaled by one factor, uniform in [scale_low, scale_high], 0
  // < scale_low <= scale_high.
  double scale_low = 1, scale_high = 1;
  // Standard deviation of the Gaussian noise on each coordinate, finite and >= 0, clipped to [-jitter_clip,
  // jitter_clip], jitter_clip >= 0; in units of the normalized cloud.
  double jitter = 0, jitter_clip = std::numeric_limits<double>::infinity();
  // Share of the points that is dropped last, in [0, 1): a random subset of ceil((1 - drop) n) of n points remains.
  double drop = 0;
};

}  // namespace geosft
