// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/class_subset.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/experiment/key_names.h"

namespace geosft {

ClassSubset::ClassSubset(std::unique_ptr<PointDataset> clouds, std::vector<std::string> class_names)
    : clouds_(std::move(clouds)), class_names_(std::move(class_names)) {
  for (const std::string& name : clouds_->class_names()) {
    const auto found = std::find(class_names_.begin(), class_names_.end(), name);
    if (found == class_names_.end()) throw std::invalid_argument("class_names: expected one that is '" + name + "'");
    labels_.push_back(found - class_names_.begin());
  }
}

Shape ClassSubset::get(int64_t index) const {
  Shape shape = clouds_->get(index);
  shape.label = labels_.at(static_cast<size_t>(shape.label));
  return shape;
}

DataError unknown_outputs(const std::string& data, const std::string& model_has, const std::vector<std::string>& known,
                          const std::string& found, const std::vector<std::string>& unknown) {
  return DataError(data, "some of the " + model_has + " of the trained model (info RUN lists them)",
                   found + ", of which it does not know " + std::to_string(unknown.size()) +
                       (unknown.size() == 1 ? ", " : ", such as ") + unknown.front() +
                       nearest_hint(unknown.front(), known) + "; train --init-from fine-tunes the model on them");
}

std::vector<std::string> unknown_classes(const std::vector<std::string>& names, const std::vector<std::string>& known) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown.push_back(name);
  }
  return unknown;
}

}  // namespace geosft
