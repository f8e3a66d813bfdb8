// SPDX-License-Identifier: Apache-2.0
// Gives a dataset of parts the class and part numbers of a model that knows all of its classes and parts, and others.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/points/part_dataset.h"

namespace geosft {

// A dataset with other classes and parts: its own are some of them, by name.
class PartSubset final : public PartDataset {
 public:
  // Throws std::invalid_argument if unknown_parts are not empty.
  PartSubset(std::unique_ptr<PartDataset> shapes, std::vector<std::string> class_names, PartList parts);

  int64_t size() const override { return shapes_->size(); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override { return labels_.at(static_cast<size_t>(shapes_->label(index))); }
  std::string name(int64_t index) const override { return shapes_->name(index); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  bool has_normals() const override { return shapes_->has_normals(); }
  std::string file_without_normals() const override { return shapes_->file_without_normals(); }
  bool in_memory() const override { return shapes_->in_memory(); }
  std::vector<std::string> warnings() const override { return shapes_->warnings(); }
  const PartList& parts() const override { return parts_; }
  bool has_parts() const override { return shapes_->has_parts(); }
  LabelCounts count_parts() const override;

 private:
  std::unique_ptr<PartDataset> shapes_;
  std::vector<std::string> class_names_;
  PartList parts_;
  std::vector<int64_t> labels_;  // by the dataset's own label
  at::Tensor ids_;               // int64, by the dataset's own part
};

// Returns, as "class/part", the parts of the dataset that are not among `parts` of these classes.
std::vector<std::string> unknown_parts(const PartDataset& shapes, const std::vector<std::string>& class_names,
                                       const PartList& parts);

}  // namespace geosft
