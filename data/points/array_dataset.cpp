// SPDX-License-Identifier: Apache-2.0
#include "data/points/array_dataset.h"

#include <sstream>
#include <stdexcept>

#include "geometry/normals.h"

namespace geosft {
namespace {

// Returns the index of the first true flag.
int64_t first_of(const at::Tensor& flags) {
  return flags.to(at::kByte).argmax().item<int64_t>();
}

void check_vectors(const at::Tensor& vectors, const char* what, const std::string& file) {
  if (vectors.dim() != 3 || vectors.size(0) < 1 || vectors.size(1) < 1 || vectors.size(2) != 3) {
    throw DataError(file, std::string(what) + " of shape [N, P, 3]", shape_text(vectors));
  }
  const at::Tensor bad = at::isfinite(vectors).flatten(1).all(1).logical_not_();
  if (!bad.any().item<bool>()) return;
  const int64_t cloud = first_of(bad);
  const at::Tensor points = at::isfinite(vectors[cloud]).all(1).logical_not_();
  throw DataError(file, std::string("finite ") + what,
                  "NaN or infinity in cloud " + std::to_string(cloud) + ", point " + std::to_string(first_of(points)) +
                      ": leave the cloud out, or replace the point (--drop-invalid is for files of one cloud)");
}

void check_labels(const at::Tensor& labels, int64_t count, size_t classes, const std::string& file) {
  if (labels.dim() != 1 || labels.size(0) != count) {
    throw DataError(file, "a label for each of the " + std::to_string(count) + " clouds", shape_text(labels));
  }
  const at::Tensor bad = (labels < 0) | (labels >= static_cast<int64_t>(classes));
  if (!bad.any().item<bool>()) return;
  const int64_t cloud = first_of(bad);
  throw DataError(file,
                  "labels from 0 to " + std::to_string(static_cast<int64_t>(classes) - 1) + " for " +
                      std::to_string(classes) + " classes",
                  "label " + std::to_string(labels[cloud].item<int64_t>()) + " of cloud " + std::to_string(cloud));
}

// Adds the first of these warnings, if there are any, with the number of the others.
void add_first(const std::vector<std::string>& found, std::vector<std::string>& warnings) {
  if (found.empty()) return;
  const size_t more = found.size() - 1;
  warnings.push_back(
      found[0] +
      (more == 0 ? "" : "; " + std::to_string(more) + (more == 1 ? " more has" : " more have") + " the like"));
}

}  // namespace

void check_item(int64_t index, int64_t size) {
  if (index >= 0 && index < size) return;
  throw std::out_of_range("item " + std::to_string(index) + " of a dataset of " + std::to_string(size));
}

std::string shape_text(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

void set_clouds(CloudArrays& arrays, const at::Tensor& coordinates) {
  arrays.points = coordinates;
  const bool has_clouds = coordinates.dim() == 3 && coordinates.size(2) == 3 && coordinates.numel() > 0;
  if (has_clouds && coordinates.scalar_type() == at::kDouble) {
    const at::Tensor offset = offsets_from_origin(coordinates);
    if (offset.any().item<bool>()) {
      arrays.offset = offset;
      arrays.points = coordinates - offset.unsqueeze(1);
    }
  }
  arrays.points = arrays.points.to(at::kFloat);
}

void warn_of_empty_classes(CloudArrays& arrays, const std::vector<std::string>& classes, const std::string& file) {
  const at::Tensor counts = at::bincount(arrays.labels, {}, static_cast<int64_t>(classes.size()));
  std::vector<std::string> empty;
  for (size_t label = 0; label < classes.size(); ++label) {
    if (counts[static_cast<int64_t>(label)].item<int64_t>() == 0) empty.push_back(classes[label]);
  }
  if (!empty.empty()) arrays.warnings.push_back(file + ": " + empty_classes_text(empty, classes.size(), "no cloud"));
}

void check_clouds(const CloudArrays& arrays, size_t classes, const std::string& file) {
  check_vectors(arrays.points, "points", file);
  check_labels(arrays.labels, arrays.points.size(0), classes, file);
  if (!arrays.names.empty() && static_cast<int64_t>(arrays.names.size()) != arrays.points.size(0)) {
    throw DataError(file, "a name for each of the " + std::to_string(arrays.points.size(0)) + " clouds, or none",
                    std::to_string(arrays.names.size()) + " names");
  }
  if (arrays.normals.defined()) {
    check_vectors(arrays.normals, "normals", file);
    if (arrays.normals.sizes() != arrays.points.sizes()) {
      throw DataError(file, "normals of shape " + shape_text(arrays.points), shape_text(arrays.normals));
    }
  }
  if (arrays.parts.defined() && arrays.parts.sizes() != arrays.points.sizes().slice(0, 2)) {
    throw DataError(file, "a part for each point of " + shape_text(arrays.points), shape_text(arrays.parts));
  }
  if (!arrays.keep.defined()) return;
  if (arrays.keep.sizes() != arrays.points.sizes().slice(0, 2)) {
    throw DataError(file, "a mask for each point of " + shape_text(arrays.points), shape_text(arrays.keep));
  }
  const at::Tensor empty = arrays.keep.any(1).logical_not_();
  if (!empty.any().item<bool>()) return;
  throw DataError(file, "a point that is not background in every cloud",
                  "none in cloud " + std::to_string(first_of(empty)));
}

std::vector<std::string> numbered_clouds(const std::filesystem::path& file, int64_t count) {
  const std::string stem = file.stem().string();
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) names.push_back(stem + ":" + std::to_string(i));
  return names;
}

ArrayDataset::ArrayDataset(CloudArrays arrays, std::vector<std::string> class_names, const std::string& file)
    : arrays_(std::move(arrays)), class_names_(std::move(class_names)) {
  check_clouds(arrays_, class_names_.size(), file);
  warn_of_coarse_coordinates(file);
  if (!arrays_.normals.defined()) return;
  arrays_.normals = arrays_.normals.clone();
  for (const at::Tensor& normals : arrays_.normals.unbind(0)) normals.copy_(unit_normals(normals));
  complete_normals(file);
}

void ArrayDataset::warn_of_coarse_coordinates(const std::string& file) {
  std::vector<std::string> found;
  for (int64_t cloud = 0; cloud < size(); ++cloud) {
    const std::string text = coarse_coordinates_text(get(cloud).points.to(at::kDouble));
    if (!text.empty()) found.push_back(file + ": " + name(cloud) + ": " + text);
  }
  add_first(found, arrays_.warnings);
}

void ArrayDataset::complete_normals(const std::string& file) {
  const at::Tensor kept = arrays_.keep.defined() ? arrays_.keep : at::ones({1, 1}, at::kBool);
  const at::Tensor known = (arrays_.normals != 0).any(2);
  const at::Tensor bare = (known & kept).any(1).logical_not();
  if (bare.all().item<bool>()) {
    arrays_.normals = at::Tensor();
    return;
  }
  const at::Tensor partly = (known.logical_not() & kept).any(1).logical_and(bare.logical_not()).nonzero().squeeze(1);
  std::vector<std::string> found;
  for (int64_t place = 0; place < partly.size(0); ++place) {
    const int64_t cloud = partly[place].item<int64_t>();
    Shape shape = get(cloud);
    const int64_t missing = fill_missing_normals(shape);
    at::Tensor normals = arrays_.normals[cloud];
    if (arrays_.keep.defined()) {
      normals.index_copy_(0, arrays_.keep[cloud].nonzero().squeeze(1), shape.normals);
    } else {
      normals.copy_(shape.normals);
    }
    found.push_back(file + ": " + shape.name + ": " + missing_normals_text(shape, missing));
  }
  add_first(found, arrays_.warnings);
  if (bare.any().item<bool>()) bare_ = bare;
}

int64_t ArrayDataset::label(int64_t index) const {
  check_item(index, size());
  return arrays_.labels.const_data_ptr<int64_t>()[index];
}

std::string ArrayDataset::name(int64_t index) const {
  check_item(index, size());
  return arrays_.names[static_cast<size_t>(index)];
}

Shape ArrayDataset::get(int64_t index) const {
  Shape shape;
  shape.label = label(index);
  shape.name = name(index);
  shape.points = arrays_.points[index];
  const bool has_some = arrays_.normals.defined() && !(bare_.defined() && bare_[index].item<bool>());
  if (has_some) shape.normals = arrays_.normals[index];
  if (arrays_.parts.defined()) shape.parts = arrays_.parts[index];
  if (arrays_.offset.defined() && arrays_.offset[index].any().item<bool>()) shape.offset = arrays_.offset[index];
  if (!arrays_.keep.defined()) return shape;
  const at::Tensor rows = arrays_.keep[index].nonzero().squeeze(1);
  shape.points = shape.points.index_select(0, rows);
  if (shape.normals.defined()) shape.normals = shape.normals.index_select(0, rows);
  if (shape.parts.defined()) shape.parts = shape.parts.index_select(0, rows);
  return shape;
}

}  // namespace geosft
