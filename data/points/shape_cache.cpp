// SPDX-License-Identifier: Apache-2.0
#include "data/points/shape_cache.h"

#include "data/cache_folder.h"
#include "data/checkpoint.h"

namespace geosft {
namespace {

bool is_point_table(const at::Tensor& rows) {
  return rows.scalar_type() == at::kFloat && rows.dim() == 2 && rows.size(0) > 0 && rows.size(1) == 3;
}

}  // namespace

std::filesystem::path ShapeCache::file(const std::string& id) const {
  return cache_file(folder_, id, ".shape");
}

std::optional<Shape> ShapeCache::load(const std::string& id, const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  try {
    const Checkpoint stored = load_checkpoint(file(id));
    const auto stored_key = stored.texts.find("key");
    const auto points = stored.tensors.find("points");
    if (stored_key == stored.texts.end() || stored_key->second != key || points == stored.tensors.end()) {
      return std::nullopt;
    }
    const auto normals = stored.tensors.find("normals");
    Shape shape{points->second, normals == stored.tensors.end() ? at::Tensor() : normals->second, -1, ""};
    const auto offset = stored.tensors.find("offset");
    if (offset != stored.tensors.end()) shape.offset = offset->second;
    if (shape.offset.defined() &&
        (shape.offset.scalar_type() != at::kDouble || shape.offset.sizes() != at::IntArrayRef{3})) {
      return std::nullopt;
    }
    const bool matching =
        !shape.normals.defined() || (is_point_table(shape.normals) && shape.normals.sizes() == shape.points.sizes());
    return is_point_table(shape.points) && matching ? std::optional(shape) : std::nullopt;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

bool ShapeCache::store(const std::string& id, const std::string& key, const Shape& shape) const {
  if (!make_cache_folder(folder_)) return false;
  Checkpoint contents;
  contents.texts["key"] = key;
  contents.tensors["points"] = shape.points;
  if (shape.normals.defined()) contents.tensors["normals"] = shape.normals;
  if (shape.offset.defined()) contents.tensors["offset"] = shape.offset;
  try {
    save_checkpoint(file(id), contents);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace geosft
