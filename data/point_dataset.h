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

struct Mesh;
enum class Split { train, test };

struct PointDatasetOptions {
  int64_t points_per_mesh = 4096;    // points sampled once from every mesh, before any subset is drawn
  uint64_t seed = 0;                 // of that sampling
  std::filesystem::path cache = {};  // folder of the sampled meshes; empty: $XDG_CACHE_HOME/geosft or ~/.cache/geosft
  int64_t test_every = 5;            // tree without train/ and test/: every fifth file of a class, by sorted name, is
                                     // test, the others train; 0: all files belong to both splits
  bool allow_missing = false;        // normal_resampled: leave out listed shapes that are absent
  bool drop_background = false;      // ScanObjectNN: only the points whose mask is not -1
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
  // The first file that keeps has_normals() from being true; empty where there is none, or they are not told apart.
  virtual std::string file_without_normals() const { return {}; }
  // What the source lists or holds but this dataset leaves out, a sentence each, to be shown to the user.
  virtual std::vector<std::string> warnings() const { return {}; }
};

// Opens a set by what lies at `source`: empty or "furniture" (the installed sweethome3d-furniture models), ModelNet40
// or ScanObjectNN HDF5, `normal_resampled` text, or a tree class/*.{ply,obj,off,stl,pcd,xyz,txt} with optional
// train/test folders (below or above the class folder). Where a folder holds several variants of a set, one of its
// files may be named instead (training_objectdataset_augmentedrot_scale75.h5, modelnet10_train.txt). Shapes from files
// are sampled once, here, and cached. Throws DataError when nothing fits, listing what was looked for, and when
// anything is broken.
std::unique_ptr<PointDataset> open_point_dataset(const std::filesystem::path& source, Split split,
                                                 const PointDatasetOptions& options = {});

// The same source named so that it is found from any working folder: absolute, and the furniture set as it is.
std::filesystem::path absolute_source(const std::filesystem::path& source);

// One file, for prediction: a mesh is sampled (options.points_per_mesh, options.seed), a cloud is taken as it is. Where
// points were sampled, a sentence joins `warnings`, and what they were sampled from is left in `mesh`.
Shape read_shape(const std::filesystem::path& file, const PointDatasetOptions& options = {},
                 std::vector<std::string>* warnings = nullptr, Mesh* mesh = nullptr);

}  // namespace geosft
