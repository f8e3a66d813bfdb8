// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/estimated_normals.h"

#include "geometry/normals.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"

namespace geosft {

EstimatedNormals::EstimatedNormals(std::unique_ptr<PointDataset> clouds, const std::string& data)
    : clouds_(std::move(clouds)) {
  const std::string file = clouds_->file_without_normals();
  note_ = (file.empty() ? data : file) + ": coordinates alone, so normals are estimated (--normals false: none)";
  const int64_t count = clouds_->size();
  normals_.resize(static_cast<size_t>(count));
  ProgressBar bar("estimating normals", count);
  for (int64_t row = 0; row < count; ++row) {
    normals_[static_cast<size_t>(row)] = estimate_normals(clouds_->get(row).points);
    bar.update(row + 1);
    throw_if_interrupted("while normals were estimated");
  }
  bar.finish();
}

Shape EstimatedNormals::get(int64_t index) const {
  Shape shape = clouds_->get(index);
  shape.normals = normals_.at(static_cast<size_t>(index));
  return shape;
}

std::unique_ptr<PointDataset> with_normals(std::unique_ptr<PointDataset> dataset, const std::string& data) {
  if (dataset->has_normals()) return dataset;
  return std::make_unique<EstimatedNormals>(std::move(dataset), data);
}

std::string estimation_note(const PointDataset& dataset) {
  const auto* const estimated = dynamic_cast<const EstimatedNormals*>(&dataset);
  return estimated == nullptr ? "" : estimated->note();
}

}  // namespace geosft
