// SPDX-License-Identifier: Apache-2.0
// Gives a dataset the class numbers of a model that knows all of its classes, and others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/points/point_dataset.h"

namespace geosft {

// A dataset with other classes: its own are some of them, by name.
class ClassSubset final : public PointDataset {
 public:
  // Throws std::invalid_argument if a class of the dataset is none of `class_names`.
  ClassSubset(std::unique_ptr<PointDataset> clouds, std::vector<std::string> class_names);

  int64_t size() const override { return clouds_->size(); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override { return labels_.at(static_cast<size_t>(clouds_->label(index))); }
  std::string name(int64_t index) const override { return clouds_->name(index); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  bool has_normals() const override { return clouds_->has_normals(); }
  std::string file_without_normals() const override { return clouds_->file_without_normals(); }
  bool in_memory() const override { return clouds_->in_memory(); }
  std::vector<std::string> warnings() const override { return clouds_->warnings(); }

 private:
  std::unique_ptr<PointDataset> clouds_;
  std::vector<std::string> class_names_;
  std::vector<int64_t> labels_;  // by the dataset's own label
};

// Returns the error of data with outputs that a model does not know, of which it has `known`, named in one text by
// `model_has` ("3 classes"); the data have `found`, and `unknown` of them are not the model's.
DataError unknown_outputs(const std::string& data, const std::string& model_has, const std::vector<std::string>& known,
                          const std::string& found, const std::vector<std::string>& unknown);

// Returns those of the names that are not among `known`.
std::vector<std::string> unknown_classes(const std::vector<std::string>& names, const std::vector<std::string>& known);

}  // namespace geosft
