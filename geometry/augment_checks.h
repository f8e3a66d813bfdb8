// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>
#include <vector>

#include "geometry/augment_options.h"

namespace geosft {

// Offsets of the clouds as given, of their subsets, and of what is left of these once points are dropped.
struct CloudOffsets {
  std::vector<int64_t> all, subset, kept;
  int64_t clouds() const { return static_cast<int64_t>(all.size()) - 1; }
};

// What every backend of augment_clouds checks without the values on a GPU, and the sizes of its result.
CloudOffsets check_augmentation(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                const at::Tensor& ptr, const at::Tensor& seeds, const AugmentOptions& options);

// geosft::_augment_clouds: points, normals, ptr and rows of AugmentedClouds. `numbers` are stretch, scale_low,
// scale_high, jitter, jitter_clip and drop.
using AugmentSignature = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>(
    const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& ptr, const at::Tensor& seeds,
    int64_t most, int64_t rotation, at::ArrayRef<double> numbers);
AugmentOptions augment_options(int64_t most, int64_t rotation, at::ArrayRef<double> numbers);

}  // namespace geosft
