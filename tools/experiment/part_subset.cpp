// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/part_subset.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace geosft {
namespace {

// Returns the place of an entry; nothing for one that is not there.
template <class Entry>
std::optional<int64_t> place_of(const std::vector<Entry>& all, const Entry& entry) {
  const auto found = std::ranges::find(all, entry);
  return found == all.end() ? std::nullopt : std::optional<int64_t>(found - all.begin());
}

// Returns the place of a part of the class `class_name` among `parts` of `class_names`.
std::optional<int64_t> place_of(const PartList& parts, const std::vector<std::string>& class_names,
                                const std::string& class_name, const std::string& part) {
  const std::optional<int64_t> category = place_of(class_names, class_name);
  return category ? place_of(parts, ShapePart{part, *category}) : std::nullopt;
}

}  // namespace

PartSubset::PartSubset(std::unique_ptr<PartDataset> shapes, std::vector<std::string> class_names, PartList parts)
    : shapes_(std::move(shapes)), class_names_(std::move(class_names)), parts_(std::move(parts)) {
  for (const std::string& name : shapes_->class_names()) {
    const std::optional<int64_t> label = place_of(class_names_, name);
    if (!label) throw std::invalid_argument("class_names: expected one that is '" + name + "'");
    labels_.push_back(*label);
  }
  std::vector<int64_t> ids;
  for (const ShapePart& part : shapes_->parts()) {
    const std::optional<int64_t> id =
        place_of(parts_, ShapePart{part.name, labels_.at(static_cast<size_t>(part.category))});
    if (!id) throw std::invalid_argument("parts: expected one that is '" + part.name + "'");
    ids.push_back(*id);
  }
  ids_ = at::tensor(ids, at::kLong);
}

Shape PartSubset::get(int64_t index) const {
  Shape shape = shapes_->get(index);
  shape.label = label(index);
  if (shape.parts.defined()) {
    const at::Tensor unlabelled = shape.parts == unlabelled_part;
    shape.parts = ids_.index_select(0, shape.parts.clamp_min(0)).masked_fill(unlabelled, unlabelled_part);
  }
  return shape;
}

LabelCounts PartSubset::count_parts() const {
  LabelCounts counts = shapes_->count_parts();
  counts.parts = at::zeros({static_cast<int64_t>(parts_.size())}, at::kLong).index_copy_(0, ids_, counts.parts);
  return counts;
}

std::vector<std::string> unknown_parts(const PartDataset& shapes, const std::vector<std::string>& class_names,
                                       const PartList& parts) {
  std::vector<std::string> unknown;
  for (const ShapePart& part : shapes.parts()) {
    const std::string& category = shapes.class_names().at(static_cast<size_t>(part.category));
    if (!place_of(parts, class_names, category, part.name)) unknown.push_back(category + "/" + part.name);
  }
  return unknown;
}

}  // namespace geosft
