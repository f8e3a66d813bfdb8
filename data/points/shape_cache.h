// SPDX-License-Identifier: Apache-2.0
// Caches sampled shapes on disk, so that a mesh is read and sampled once.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/points/shape.h"

namespace geosft {

// The sampled shape of a file, and what is said about the file whenever the shape is used.
struct SampledShape {
  Shape shape;
  std::vector<std::string> warnings = {};  // a phrase for each, without line breaks
  int64_t missing_normals = 0;             // points whose normals were estimated
};

// Stores one file per shape. `id` identifies the shape and determines the file name; `key` describes everything the
// contents depend on: a file with another key is stale.
class ShapeCache {
 public:
  // With an empty path nothing is stored.
  explicit ShapeCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Loads points, normals, offset, from_mesh and what is said about them. Returns nothing if the file is absent, stale
  // or damaged.
  std::optional<SampledShape> load(const std::string& id, const std::string& key) const;
  // Writes atomically. Returns false if the folder cannot be written to or is full.
  bool store(const std::string& id, const std::string& key, const SampledShape& sampled) const;
  // Returns the file of a shape.
  std::filesystem::path file(const std::string& id) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace geosft
