// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of this folder's operators, for their CPU, CUDA and Meta kernels.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <tuple>
#include <vector>

#include "geometry/augment_options.h"

namespace geosft {

// Checks the arguments of knn without reading tensor values.
void check_knn(const at::Tensor& points, const at::Tensor& queries, int64_t k);

// Checks the arguments of the gradient: index [Q, k] is the result of knn, grad [Q, k] the gradient of dist2.
void check_knn_backward(const at::Tensor& grad, const at::Tensor& points, const at::Tensor& queries,
                        const at::Tensor& index);

// Checks the arguments of farthest_point_sampling without reading values of points and ptr.
void check_farthest_point_arguments(const at::Tensor& points, int64_t m, const std::optional<at::Tensor>& ptr,
                                    int64_t start);

// Offsets of the input clouds, of their random subsets, and of what remains of the subsets after points are dropped.
struct CloudOffsets {
  std::vector<int64_t> all, subset, kept;
  int64_t clouds() const { return static_cast<int64_t>(all.size()) - 1; }
};

// Checks the arguments of augment_clouds without reading values on a GPU. Returns the sizes of its result.
CloudOffsets check_augmentation(const at::Tensor& points, const std::optional<at::Tensor>& normals,
                                const at::Tensor& ptr, const at::Tensor& seeds, const AugmentOptions& options);

// The operator geosft::_augment_clouds. It returns points, normals, ptr and rows of AugmentedClouds; `numbers` holds
// stretch, scale_low, scale_high, jitter, jitter_clip and drop.
using AugmentSignature = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>(
    const at::Tensor& points, const std::optional<at::Tensor>& normals, const at::Tensor& ptr, const at::Tensor& seeds,
    int64_t max_points, int64_t rotation, at::ArrayRef<double> numbers);
AugmentOptions augment_options(int64_t max_points, int64_t rotation, at::ArrayRef<double> numbers);

}  // namespace geosft
