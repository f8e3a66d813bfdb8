// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/augmented_loader.h"

#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/estimated_normals.h"

namespace geosft {
namespace {

PointLoaderOptions with_transforms(PointLoaderOptions options, const PointDataset& dataset, const CloudSettings& clouds,
                                   const AugmentSettings& augment, AugmentedBy by) {
  options.transform = training_clouds(clouds);
  if (ShapeTransform normals = augmented_normals(dataset, clouds, augment)) {
    options.transform = [first = std::move(normals), then = options.transform](Shape shape, at::Generator& generator) {
      return then(first(std::move(shape), generator), generator);
    };
  }
  if (by == AugmentedBy::workers) options.batch_transform = augmentation(clouds, augment);
  return options;
}

}  // namespace

ShapeTransform augmented_normals(const PointDataset& dataset, const CloudSettings& clouds,
                                 const AugmentSettings& augment) {
  // A dataset without normals has estimated ones already.
  if (augment.estimated_normals == 0 || estimates_all_normals(dataset)) return {};
  return share_of_estimated_normals(dataset, augment.estimated_normals, clouds.normal_orientation);
}

AugmentedBy augmented_by(at::Device device) {
  return device.is_cuda() ? AugmentedBy::step : AugmentedBy::workers;
}

AugmentedLoader::AugmentedLoader(const PointDataset& dataset, PointLoaderOptions options, const CloudSettings& clouds,
                                 const AugmentSettings& augment, at::Device device, AugmentedBy by)
    : device_(device),
      in_step_(by == AugmentedBy::step ? augmentation(clouds, augment) : BatchTransform()),
      loader_(dataset, with_transforms(std::move(options), dataset, clouds, augment, by)) {}

const PointBatch& AugmentedLoader::next() {
  std::optional<PointBatch> batch = loader_.next();
  TORCH_CHECK(batch.has_value(), "the loader ended before the epoch did");
  batch = on_device(*batch, device_);
  last_ = in_step_ ? in_step_(std::move(*batch)) : std::move(*batch);
  return *last_;
}

}  // namespace geosft
