// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/estimated_normals.h"

#include <map>

#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"

namespace geosft {
namespace {

// Estimates the normals of all clouds, or of those that come without (undefined for the others).
std::vector<at::Tensor> estimate(const PointDataset& clouds, NormalOrientation orientation, bool all) {
  const int64_t count = clouds.size();
  std::vector<at::Tensor> normals(static_cast<size_t>(count));
  ProgressBar bar("estimating normals", count);
  for (int64_t row = 0; row < count; ++row) {
    const Shape shape = clouds.get(row);
    if (all || !shape.normals.defined()) normals[static_cast<size_t>(row)] = estimated_normals(shape, orientation);
    bar.update(row + 1);
    throw_if_interrupted("while normals were estimated");
  }
  bar.finish();
  return normals;
}

// Returns the estimation of a dataset, or of the whole that it is a subset of; null without one.
const EstimatedNormals* estimation_of(const PointDataset& dataset) {
  if (const auto* const subset = dynamic_cast<const PointSubset*>(&dataset)) return estimation_of(subset->whole());
  return dynamic_cast<const EstimatedNormals*>(&dataset);
}

}  // namespace

EstimatedNormals::EstimatedNormals(std::unique_ptr<PointDataset> clouds, const std::string& data,
                                   NormalOrientation orientation, bool all)
    : clouds_(std::move(clouds)), normals_(estimate(*clouds_, orientation, all)) {
  int64_t bare = 0;  // clouds without normals
  for (int64_t row = 0; row < size(); ++row) bare += clouds_->get(row).normals.defined() ? 0 : 1;
  all_ = all || bare == size();
  const std::string file = clouds_->file_without_normals();
  if (all && bare < size()) {
    note_ = data + ": normals are estimated, and its own are not used";
  } else if (bare == size()) {
    note_ = data + (size() == 1 ? ": its cloud has" : ": its " + std::to_string(size()) + " clouds have") +
            " coordinates alone, so normals are estimated (--normals false: none)";
  } else {
    note_ = data + ": " + std::to_string(bare) + " of " + std::to_string(size()) +
            " clouds have coordinates alone, so their normals are estimated (--normals false: none)" +
            (file.empty() ? "" : ", the first " + file);
  }
}

Shape EstimatedNormals::get(int64_t index) const {
  Shape shape = clouds_->get(index);
  const at::Tensor& estimated = normals_.at(static_cast<size_t>(index));
  if (estimated.defined()) shape.normals = estimated;
  return shape;
}

std::unique_ptr<PointDataset> with_normals(std::unique_ptr<PointDataset> dataset, const std::string& data,
                                           NormalOrientation orientation) {
  if (dataset->has_normals()) return dataset;
  return std::make_unique<EstimatedNormals>(std::move(dataset), data, orientation, /*all=*/false);
}

std::unique_ptr<PointDataset> with_estimated_normals(std::unique_ptr<PointDataset> dataset, const std::string& data,
                                                     NormalOrientation orientation) {
  if (estimates_all_normals(*dataset)) return dataset;
  return std::make_unique<EstimatedNormals>(std::move(dataset), data, orientation, /*all=*/true);
}

ShapeTransform share_of_estimated_normals(const PointDataset& dataset, double share, NormalOrientation orientation) {
  std::vector<at::Tensor> normals = estimate(dataset, orientation, /*all=*/true);
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
  const EstimatedNormals* const estimated = estimation_of(dataset);
  return estimated == nullptr ? "" : estimated->note();
}

bool estimates_all_normals(const PointDataset& dataset) {
  const EstimatedNormals* const estimated = estimation_of(dataset);
  return estimated != nullptr && estimated->all();
}

}  // namespace geosft
