// SPDX-License-Identifier: Apache-2.0
// The kernel regression of a classifier of clouds, on their histograms of point pairs (geometry/pair_histogram.h),
// whose logits are averaged with those of its network.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>

#include "data/points/point_dataset.h"
#include "data/points/point_loader.h"
#include "tools/experiment/cloud_settings.h"
#include "tools/experiment/run_kernel.h"

namespace geosft {

struct ShapeKernel : RunKernel {
  // The weight was chosen for averages of probabilities, on left-out clouds of one division of furniture
  // (tools/bench/TARGETS.md).
  ShapeKernel() : RunKernel("geosft-classify", 0.6) { average_logits = true; }

  // Averages logits [n, classes] with those of the regression for clouds with these histograms [n, columns]; without
  // average_logits, averages the probabilities. Returns logarithms of probabilities, of the type of `logits`. Ignores
  // columns beyond those that the regression was fitted to.
  at::Tensor averaged(const at::Tensor& logits, const at::Tensor& histograms) const;
};

// Returns the histogram of each cloud, float32 [n, columns], rotated with a seed from `seed` and its row. The clouds
// have normals. `transform`, if any, comes first, with a generator of the same seed.
at::Tensor shape_histograms(const PointDataset& clouds, Rotation rotation = Rotation::none, uint64_t seed = 0,
                            const ShapeTransform& transform = {});

// Fits a regression on whole parts of histograms [n, columns] to labels int64 [n] of that many classes.
KernelRidge fit_shape_kernel(const at::Tensor& histograms, const at::Tensor& labels, int64_t classes, uint64_t seed);

}  // namespace geosft
