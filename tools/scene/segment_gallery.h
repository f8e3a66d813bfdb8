// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/points/part_dataset.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/segmentation.h"
#include "tools/scene/subject.h"

namespace geosft::view {

// Returns parts with their colours, and the names and shares of those that some point has, after that of the points
// without a label, if there are any; `one_class`: without the name of the class.
PointLabels part_labels(const PartNames& names, const at::Tensor& labels, bool one_class);

// Returns a cloud with the parts that the model finds, and the true ones if they are known, and the logits. Its trace
// is left out, with the reason, if the model sees the points in blocks. `category`: class of the shape, -1 if it is
// unknown.
std::pair<Subject, at::Tensor> explained_parts(SegmentRun& trained, const Shape& shape, int64_t category);

struct SegmentGalleryOptions {
  std::string category;           // class of the shapes in files; empty: unknown
  std::optional<int64_t> points;  // sampled at random per cloud; unset: all
  FileOptions reading = {};       // how files are read
};

// Shows clouds and meshes, from files or from a split of a dataset, with the parts predicted by a trained model. Layers
// and heads are available if the model sees all points at once (its `block`).
class SegmentGallery : public Gallery {
 public:
  // Takes either `files` or `dataset`. Throws UsageError for an unknown class or if files need one, and DataError as
  // with_parts_of.
  SegmentGallery(std::vector<std::filesystem::path> files, std::unique_ptr<PartDataset> dataset, SegmentRun trained,
                 const SegmentGalleryOptions& options);

  int64_t size() const override;
  Subject get(int64_t item, bool beside) override;

 private:
  Shape shape_of(int64_t item);

  std::vector<std::filesystem::path> files_;
  std::unique_ptr<PartDataset> dataset_;
  SegmentRun trained_;
  int64_t category_ = -1;
  std::optional<int64_t> points_;
  FileOptions reading_;
};

}  // namespace geosft::view
