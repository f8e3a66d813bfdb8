// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/estimated_normals.h"

#include <map>

#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"

namespace geosft {
namespace {

std::vector<at::Tensor> estimate_all(const PointDataset& clouds, NormalOrientation orientation) {
  const int64_t count = clouds.size();
  std::vector<at::Tensor> normals(static_cast<size_t>(count));
  ProgressBar bar("estimating normals", count);
  for (int64_t row = 0; row < count; ++row) {
    normals[static_cast<size_t>(row)] = estimated_normals(clouds.get(row), orientation);
    bar.update(row + 1);
    throw_if_interrupted("while normals were estimated");
  }
  bar.finish();
  return normals;
}

}  // namespace

EstimatedNormals::EstimatedNormals(std::unique_ptr<PointDataset> clouds, const std::string& data,
                                   NormalOrientation orientation)
    : clouds_(std::move(clouds)) {
  const std::string file = clouds_->file_without_normals();
  note_ = clouds_->has_normals()
              ? data + ": normals are estimated, and its own are not used"
              : (file.empty() ? data : file) + ": coordinates alone, so normals are estimated (--normals false: none)";
  normals_ = estimate_all(*clouds_, orientation);
}

Shape EstimatedNormals::get(int64_t index) const {
  Shape shape = clouds_->get(index);
  shape.normals = normals_.at(static_cast<size_t>(index));
  return shape;
}

std::unique_ptr<PointDataset> with_normals(std::unique_ptr<PointDataset> dataset, const std::string& data,
                                           NormalOrientation orientation) {
  if (dataset->has_normals()) return dataset;
  return std::make_unique<EstimatedNormals>(std::move(dataset), data, orientation);
}

std::unique_ptr<PointDataset> with_estimated_normals(std::unique_ptr<PointDataset> dataset, const std::string& data,
                                                     NormalOrientation orientation) {
  if (!estimation_note(*dataset).empty()) return dataset;
  return std::make_unique<EstimatedNormals>(std::move(dataset), data, orientation);
}

ShapeTransform share_of_estimated_normals(const PointDataset& dataset, double share, NormalOrientation orientation) {
  std::vector<at::Tensor> normals = estimate_all(dataset, orientation);
  std::map<std::string, at::Tensor> by_name;
  for (int64_t row = 0; row < dataset.size(); ++row) {
    const std::string name = dataset.get(row).name;
    const bool is_new = by_name.emplace(name, std::move(normals[static_cast<size_t>(row)])).second;
    TORCH_CHECK(is_new, "two clouds have the name ", name);
  }
  return [by_name = std::move(by_name), share](Shape shape, at::Generator& generator) {
    if (at::rand({}, generator, at::kDouble).item<double>() < share) shape.normals = by_name.at(shape.name);
    return shape;
  };
}

std::string estimation_note(const PointDataset& dataset) {
  if (const auto* const subset = dynamic_cast<const PointSubset*>(&dataset)) return estimation_note(subset->whole());
  const auto* const estimated = dynamic_cast<const EstimatedNormals*>(&dataset);
  return estimated == nullptr ? "" : estimated->note();
}

}  // namespace geosft
