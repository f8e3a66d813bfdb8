// SPDX-License-Identifier: Apache-2.0
// Packed clouds to be augmented.
#pragma once

#include <vector>

#include "geometry/augment.h"
#include "geometry/packed.h"
#include "tests/support.h"

namespace geosft::test {

struct SeededClouds {
  at::Tensor points, normals, ptr, seeds;

  // So many points a cloud, away from the origin, with unit normals.
  explicit SeededClouds(const std::vector<int64_t>& counts, at::ScalarType type = at::kDouble, uint64_t seed = 1)
      : ptr(at::constant_pad_nd(at::tensor(counts, at::kLong).cumsum(0), {1, 0})),
        seeds(at::arange(static_cast<int64_t>(counts.size()), at::kLong) * 17 - 20) {
    const int64_t rows = ptr[-1].item<int64_t>();
    points = (at::randn({rows, 3}, generator(seed), at::kDouble) + 4).to(type);
    normals = at::randn({rows, 3}, generator(seed + 1), at::kDouble);
    normals = (normals / normals.norm(2, 1, true)).to(type);
  }

  AugmentedClouds changed(const AugmentOptions& options) const {
    return augment_clouds(points, normals, ptr, seeds, options);
  }
};

// Every change at once.
inline AugmentOptions every_change() {
  return {.points = 20,
          .stretch = 0.3,
          .rotation = Rotation::so3,
          .scale_low = 0.6,
          .scale_high = 1.4,
          .jitter = 0.02,
          .jitter_clip = 0.03,
          .drop = 0.3};
}

}  // namespace geosft::test
