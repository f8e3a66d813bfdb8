// SPDX-License-Identifier: Apache-2.0
// Caches sampled shapes on disk, so that a mesh is read and sampled once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/points/shape.h"

namespace geosft {

// Stores one file per shape. `id` identifies the shape and determines the file name; `key` describes everything the
// contents depend on: a file with another key is stale.
class ShapeCache {
 public:
  // With an empty path nothing is stored.
  explicit ShapeCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Loads points, normals and offset. Returns nothing if the file is absent, stale or damaged.
  std::optional<Shape> load(const std::string& id, const std::string& key) const;
  // Writes atomically. Returns false if the folder cannot be written to or is full.
  bool store(const std::string& id, const std::string& key, const Shape& shape) const;
  // Returns the file of a shape.
  std::filesystem::path file(const std::string& id) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace geosft
