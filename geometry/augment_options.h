// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace geosft {

// Rotations drawn at random: none, about the z axis by a uniform angle, or uniform over SO(3).
enum class Rotation { none, z, so3 };

// What augment_clouds does to every cloud, in this order; as it stands, nothing but normalisation.
struct AugmentOptions {
  // A random subset of so many points, >= 1, of a cloud that has more.
  int64_t points = std::numeric_limits<int64_t>::max();
  // Stretch along the axes: points are multiplied by exp(u), u uniform in [-stretch, stretch], one for each axis;
  // normals are divided by it and made unit again. Finite, >= 0; 0 leaves the lengths of normals alone.
  double stretch = 0;
  Rotation rotation = Rotation::none;
  // Once the cloud is normalised (see normalize.h), it is scaled by one number, uniform in [low, high], 0 < low <=
  // high.
  double scale_low = 1, scale_high = 1;
  // Normal noise of this standard deviation on every coordinate, finite and >= 0, clipped to [-clip, clip], clip >= 0;
  // in the unit of the normalised cloud.
  double jitter = 0, jitter_clip = std::numeric_limits<double>::infinity();
  // The share of the points that is dropped then, in [0, 1): of n a random subset of ceil((1 - drop) n) stays.
  double drop = 0;
};

}  // namespace geosft
