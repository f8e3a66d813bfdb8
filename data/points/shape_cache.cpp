// SPDX-License-Identifier: Apache-2.0
#include "data/points/shape_cache.h"

#include <sstream>
#include <utility>

#include "data/cache_folder.h"
#include "data/checkpoint.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

bool is_point_table(const at::Tensor& rows) {
  return rows.scalar_type() == at::kFloat && rows.dim() == 2 && rows.size(0) > 0 && rows.size(1) == 3;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::filesystem::path ShapeCache::file(const std::string& id) const {
  return cache_file(folder_, id, ".shape");
}

std::optional<SampledShape> ShapeCache::load(const std::string& id, const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  try {
    const Checkpoint stored = load_checkpoint(file(id));
    const auto stored_key = stored.texts.find("key");
    const auto warnings = stored.texts.find("warnings"), missing = stored.texts.find("missing_normals");
    const auto points = stored.tensors.find("points");
    if (stored_key == stored.texts.end() || stored_key->second != key || points == stored.tensors.end() ||
        warnings == stored.texts.end() || missing == stored.texts.end()) {
      return std::nullopt;
    }
    const auto normals = stored.tensors.find("normals");
    Shape shape{points->second, normals == stored.tensors.end() ? at::Tensor() : normals->second, -1, ""};
    const auto offset = stored.tensors.find("offset");
    if (offset != stored.tensors.end()) shape.offset = offset->second;
    shape.from_mesh = stored.texts.contains("from_mesh");
    if (shape.offset.defined() &&
        (shape.offset.scalar_type() != at::kDouble || shape.offset.sizes() != at::IntArrayRef{3})) {
      return std::nullopt;
    }
    const bool matching =
        !shape.normals.defined() || (is_point_table(shape.normals) && shape.normals.sizes() == shape.points.sizes());
    const std::optional<int64_t> missing_normals = parse_integer(missing->second);
    if (!is_point_table(shape.points) || !matching || !missing_normals) return std::nullopt;
    return SampledShape{std::move(shape), split_lines(warnings->second), *missing_normals};
  } catch (const DataError&) {
    return std::nullopt;
  }
}

bool ShapeCache::store(const std::string& id, const std::string& key, const SampledShape& sampled) const {
  if (!make_cache_folder(folder_)) return false;
  const Shape& shape = sampled.shape;
  Checkpoint contents;
  contents.texts["key"] = key;
  for (const std::string& warning : sampled.warnings) contents.texts["warnings"] += warning + "\n";
  contents.texts.try_emplace("warnings");
  contents.texts["missing_normals"] = std::to_string(sampled.missing_normals);
  if (shape.from_mesh) contents.texts["from_mesh"] = "true";
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
