// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/points/part_dataset.h"
#include "tools/segment/segment_run.h"
#include "tools/view/subject.h"

namespace geosft::view {

struct SegmentGalleryOptions {
  std::string category;           // class of the files' shapes; empty: not known
  std::optional<int64_t> points;  // of each cloud, drawn at random; none: all of them
};

// Clouds and meshes, from files or from a split of a dataset, with the parts that a trained model finds in them. Layers
// and heads can be looked at where the model sees all points at once (its `block`).
class SegmentGallery : public Gallery {
 public:
  // Either `files` are some, or `dataset` is set. Throws UsageError for a class that the model does not know, or where
  // files need one, and DataError for a dataset of other parts.
  SegmentGallery(std::vector<std::filesystem::path> files, std::unique_ptr<PartDataset> dataset, SegmentRun trained,
                 const SegmentGalleryOptions& options);

  int64_t size() const override;
  Subject get(int64_t item, bool beside) override;

 private:
  Shape shape_of(int64_t item);
  // The subject, and its logits.
  std::pair<Subject, at::Tensor> explained(const Shape& shape, int64_t category);
  FoundParts found_parts(const at::Tensor& labels, bool one_class) const;
  void trace(const Shape& shape, int64_t category, Subject& subject);

  std::vector<std::filesystem::path> files_;
  std::unique_ptr<PartDataset> dataset_;
  SegmentRun trained_;
  int64_t category_ = -1;
  std::optional<int64_t> points_;
};

}  // namespace geosft::view
