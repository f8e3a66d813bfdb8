// SPDX-License-Identifier: Apache-2.0
// Caches sampled shapes on disk, so that a mesh is read and sampled once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/points/shape.h"

namespace geosft {

// One file per shape. `id` says which shape it is (and becomes the name of the file), `key` everything its contents
// depend on: a file with another key is stale.
class ShapeCache {
 public:
  // Without a folder (empty) nothing is ever stored.
  explicit ShapeCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Points and normals; nothing when absent, stale or damaged.
  std::optional<Shape> load(const std::string& id, const std::string& key) const;
  // Atomically; false when the folder cannot be written to or is full.
  bool store(const std::string& id, const std::string& key, const Shape& shape) const;
  // The file of a shape.
  std::filesystem::path file(const std::string& id) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace geosft
