// SPDX-License-Identifier: Apache-2.0
#include "data/shape_cache.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "data/checkpoint.h"
#include "data/seeds.h"

namespace geosft {

std::filesystem::path default_cache_folder() {
  const auto absolute = [](const char* variable) {
    const char* value = std::getenv(variable);
    const std::filesystem::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : std::filesystem::path();
  };
  if (const auto cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache / "geosft";
  if (const auto home = absolute("HOME"); !home.empty()) return home / ".cache" / "geosft";
  return {};
}

std::filesystem::path ShapeCache::file(const std::string& id) const {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.shape", static_cast<unsigned long long>(text_hash(id)));
  return folder_ / name;
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
    return Shape{points->second, normals == stored.tensors.end() ? at::Tensor() : normals->second, -1, ""};
  } catch (const DataError&) {
    return std::nullopt;
  }
}

bool ShapeCache::store(const std::string& id, const std::string& key, const Shape& shape) const {
  std::error_code error;
  if (folder_.empty() || (std::filesystem::create_directories(folder_, error), error)) return false;
  Checkpoint contents;
  contents.texts["key"] = key;
  contents.tensors["points"] = shape.points;
  if (shape.normals.defined()) contents.tensors["normals"] = shape.normals;
  try {
    save_checkpoint(file(id), contents);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace geosft
