// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/shape_kernel.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include "data/seeds.h"
#include "geometry/pair_histogram.h"
#include "tools/experiment/cloud_transforms.h"

namespace geosft {
namespace {

constexpr double min_probability = 1e-9;

}  // namespace

at::Tensor ShapeKernel::averaged(const at::Tensor& logits, const at::Tensor& histograms) const {
  // Earlier regressions were fitted to the first parts alone.
  const at::Tensor known = histograms.slice(1, 0, regression->columns());
  const at::Tensor of_network = logits.cpu().to(at::kDouble), of_kernel = predict(known);
  if (average_logits) return of_network.lerp(of_kernel, weight).log_softmax(1).to(logits.options());
  const at::Tensor mean = (1 - weight) * of_network.softmax(1) + weight * of_kernel.softmax(1);
  return mean.clamp_min(min_probability).log().to(logits.options());
}

at::Tensor shape_histograms(const PointDataset& clouds, Rotation rotation, uint64_t seed,
                            const ShapeTransform& transform) {
  at::Tensor rows = at::empty({clouds.size(), pair_histogram_parts * pair_histogram_bins}, at::kFloat);
  at::parallel_for(0, clouds.size(), 1, [&](int64_t begin, int64_t end) {
    const at::NoGradGuard guard;
    for (int64_t row = begin; row < end; ++row) {
      Shape shape = clouds.get(row);
      at::Generator generator = make_generator(combine_seeds({seed, static_cast<uint64_t>(row)}));
      if (transform) shape = transform(std::move(shape), generator);
      prepare_normals(shape, /*with_normals=*/true);
      set_precision(shape, at::kDouble);
      rotate_shape(shape, rotation, generator);
      rows.select(0, row).copy_(pair_histogram(shape.points, shape.normals));
    }
  });
  return rows;
}

KernelRidge fit_shape_kernel(const at::Tensor& histograms, const at::Tensor& labels, int64_t classes, uint64_t seed) {
  KernelRidgeOptions options;
  options.fingerprints = histograms.size(1) / pair_histogram_bins;
  options.fingerprint_bits = pair_histogram_bins;
  options.classes = true;
  options.seed = seed;
  const at::Tensor groups = at::arange(labels.size(0), at::kLong);
  return KernelRidge::fit(histograms, at::one_hot(labels, classes).to(at::kDouble), groups, options);
}

}  // namespace geosft
