// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "data/points/point_dataset.h"
#include "tools/experiment/classification.h"
#include "tools/scene/subject.h"

namespace geosft::view {

// Returns a cloud as the model sees it, with the trace of the model and its prediction, and the predicted class.
std::pair<Subject, int64_t> explained_cloud(RunModel& trained, const Shape& shape, bool beside);

// Shows clouds and meshes from files or from a split of a dataset, with the trace of a trained model if one is given.
// Shows all points of a cloud without a model, with the parts of a PartDataset, and `points_per_mesh` points of a mesh.
class CloudGallery : public Gallery {
 public:
  // Takes either `files` or `dataset`.
  CloudGallery(std::vector<std::filesystem::path> files, std::unique_ptr<PointDataset> dataset,
               std::optional<RunModel> trained, PointDatasetOptions options);

  int64_t size() const override;
  Subject get(int64_t item, bool beside) override;

 private:
  Shape shape_of(int64_t item);

  std::vector<std::filesystem::path> files_;
  std::unique_ptr<PointDataset> dataset_;
  std::optional<RunModel> trained_;
  PointDatasetOptions options_;
};

}  // namespace geosft::view
