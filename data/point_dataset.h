// SPDX-License-Identifier: Apache-2.0
// Labelled point clouds from any of the supported sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/shape.h"

namespace geosft {

enum class Split { train, test };

struct PointDatasetOptions {
  int64_t points_per_mesh = 4096;    // points sampled once from every mesh, before any subset is drawn
  uint64_t seed = 0;                 // of that sampling
  std::filesystem::path cache = {};  // folder of the sampled meshes; empty: next to the user's other caches
  // Called while meshes are sampled for the cache: (done, total). May be empty.
  std::function<void(int64_t, int64_t)> progress = {};
};

// Thread-safe: `get` may be called from several threads.
class PointDataset {
 public:
  virtual ~PointDataset() = default;
  virtual int64_t size() const = 0;
  // Throws DataError when the item's file is broken, std::out_of_range for an index outside [0, size).
  virtual Shape get(int64_t index) const = 0;
  virtual int64_t label(int64_t index) const = 0;
  virtual const std::vector<std::string>& class_names() const = 0;
  virtual bool has_normals() const = 0;
};

// Opens a set by what lies in `folder`: empty or "furniture" (the installed sweethome3d-furniture models), ModelNet40 or
// ScanObjectNN HDF5, `normal_resampled` text, or a tree class/*.{ply,obj,off,stl,pcd,xyz,txt} with optional train/test
// folders (below or above the class folder). Throws DataError when nothing fits, listing what was looked for.
std::unique_ptr<PointDataset> open_point_dataset(const std::filesystem::path& folder, Split split,
                                                 const PointDatasetOptions& options = {});

// One file, for prediction: a mesh is sampled (options.points_per_mesh, options.seed), a cloud is taken as it is.
Shape read_shape(const std::filesystem::path& file, const PointDatasetOptions& options = {});

}  // namespace geosft
