// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/class_subset.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

std::vector<std::string> unknown_classes(const std::vector<std::string>& names, const std::vector<std::string>& known) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown.push_back(name);
  }
  return unknown;
}

}  // namespace geosft
