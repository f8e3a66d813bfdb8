// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/estimated_normals.h"

#include <iostream>

#include "geometry/normals.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"

namespace geosft {

EstimatedNormals::EstimatedNormals(std::unique_ptr<PointDataset> clouds) : clouds_(std::move(clouds)) {
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

std::unique_ptr<PointDataset> with_normals(std::unique_ptr<PointDataset> dataset, const std::string& data,
                                           std::string& note) {
  if (dataset->has_normals()) return dataset;
  if (note.empty()) {
    const std::string file = dataset->file_without_normals();
    note = (file.empty() ? data : file) + ": coordinates alone, so normals are estimated (--normals false: none)";
  }
  return std::make_unique<EstimatedNormals>(std::move(dataset));
}

std::unique_ptr<PointDataset> with_noted_normals(std::unique_ptr<PointDataset> dataset, const std::string& data) {
  std::string note;
  dataset = with_normals(std::move(dataset), data, note);
  if (!note.empty()) std::cerr << note << '\n';
  return dataset;
}

}  // namespace geosft
