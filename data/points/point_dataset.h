// SPDX-License-Identifier: Apache-2.0
// Opens datasets of labelled point clouds of any supported format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/points/shape.h"

namespace geosft {

struct FileShape;
enum class Split { train, test };
// Which files of a class in a tree without train and test folders are for testing: those whose names have the smallest
// hashes, or each so many-th in the order of the names.
enum class SplitOrder { hash, name };

struct PointDatasetOptions {
  int64_t points_per_mesh = 4096;    // points sampled once from each mesh, before any subset is sampled
  uint64_t seed = 0;                 // seed of that sampling
  std::filesystem::path cache = {};  // folder of sampled meshes; empty: $XDG_CACHE_HOME/geosft or ~/.cache/geosft
  int64_t test_every = 5;            // tree without train/ and test/: a fifth of the files of a class are test, the
                                     // others train; 0: all files belong to both splits
  SplitOrder split_order = SplitOrder::hash;
  bool allow_missing = false;    // normal_resampled: leave out listed shapes that are absent
  bool drop_background = false;  // ScanObjectNN: keep only points whose mask is not -1
  std::string columns = {};      // of tables of text, see ShapeReadOptions
  bool drop_invalid = false;     // drop points of clouds without finite coordinates; otherwise they are an error
  bool normals = true;           // whether normals are used: warn if some are missing, and estimated
  // Called with (done, total) while meshes are sampled for the cache. May be empty.
  std::function<void(int64_t, int64_t)> progress = {};
};

// Thread-safe: `get` may be called from several threads.
class PointDataset {
 public:
  virtual ~PointDataset() = default;
  virtual int64_t size() const = 0;
  // Throws DataError if the item's file is broken, std::out_of_range for an index outside [0, size).
  virtual Shape get(int64_t index) const = 0;
  virtual int64_t label(int64_t index) const = 0;
  // Returns the name of an item, that of its Shape; a dataset that can do so reads no file.
  virtual std::string name(int64_t index) const { return get(index).name; }
  virtual const std::vector<std::string>& class_names() const = 0;
  // Returns whether all clouds have normals; otherwise some may.
  virtual bool has_normals() const = 0;
  // Returns the first file without normals, because of which has_normals() is false; empty if all have normals or the
  // dataset does not track files.
  virtual std::string file_without_normals() const { return {}; }
  // Returns whether `get` reads no file.
  virtual bool in_memory() const { return false; }
  // Returns what was left out of the source, one sentence each, to be shown to the user.
  virtual std::vector<std::string> warnings() const { return {}; }
};

// A subset of the rows of a dataset; `whole` must outlive it.
class PointSubset : public PointDataset {
 public:
  // Throws std::out_of_range for a row outside of `whole`.
  PointSubset(const PointDataset& whole, std::vector<int64_t> rows);

  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  Shape get(int64_t index) const override { return whole_.get(rows_.at(static_cast<size_t>(index))); }
  int64_t label(int64_t index) const override { return whole_.label(rows_.at(static_cast<size_t>(index))); }
  std::string name(int64_t index) const override { return whole_.name(rows_.at(static_cast<size_t>(index))); }
  const std::vector<std::string>& class_names() const override { return whole_.class_names(); }
  bool has_normals() const override { return whole_.has_normals(); }
  std::string file_without_normals() const override { return whole_.file_without_normals(); }
  bool in_memory() const override { return whole_.in_memory(); }
  const PointDataset& whole() const { return whole_; }
  const std::vector<int64_t>& rows() const { return rows_; }

 private:
  const PointDataset& whole_;
  std::vector<int64_t> rows_;
};

// Splits the rows of a dataset at random (by `seed`) in two, with the same fraction of each class (rounded to the
// nearest count) in `second`. Both lists are ascending.
std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const PointDataset& dataset, double second_share,
                                                                       uint64_t seed);

// Samples (by `seed`) at most `count` of the given rows of each class. Returns them in ascending order.
std::vector<int64_t> limited_per_class(const PointDataset& dataset, const std::vector<int64_t>& rows, int64_t count,
                                       uint64_t seed);

// Detects the format of `source`: empty or "furniture" (the installed sweethome3d-furniture models), ModelNet40 or
// ScanObjectNN HDF5, `normal_resampled` text, or a tree class/*.{ply,obj,off,…} with optional train/test
// folders (below or above the class folder). If a folder holds several variants of a dataset, `source` may be one of
// its files (training_objectdataset_augmentedrot_scale75.h5, modelnet10_train.txt). Shapes from files are sampled once,
// here, and cached. Throws DataError for an unknown format, listing the known ones, and for broken data.
std::unique_ptr<PointDataset> open_point_dataset(const std::filesystem::path& source, Split split,
                                                 const PointDatasetOptions& options = {});

// Which options of reading have an effect on a dataset; both, if nothing is known of it.
struct ReadOptionUse {
  bool columns = true;       // some of its files are tables (has_columns)
  bool drop_invalid = true;  // some of its files can hold a cloud (can_hold_cloud)
};
// Finds out from the format of `source` and the names of its files. Arrays, and the meshes of furniture, use none.
ReadOptionUse read_option_use(const std::filesystem::path& source);

// Summarises a dataset.
struct PointDatasetSummary {
  std::string format;  // "furniture", "ModelNet40 HDF5", …
  std::vector<std::string> class_names;
  std::vector<int64_t> train, test;  // number of clouds per class
  std::optional<bool> normals;       // whether all clouds have normals; absent if their files were not read
  std::vector<std::string> warnings;
};
// Returns the summary of both splits. Files with one shape each are counted, but not read. A split that cannot be
// opened is empty, with its error among the warnings. Throws DataError if neither can.
PointDatasetSummary summarize_point_dataset(const std::filesystem::path& source,
                                            const PointDatasetOptions& options = {});

// Returns the formats other than "furniture" with the files that identify them, for messages.
std::string point_formats_text();

// Returns "2 of 5 classes have no cloud: cup, mug", "1 of 5 classes has no cloud: cup", or what else than "no cloud" is
// said, of classes or of others; at most five names.
std::string empty_classes_text(const std::vector<std::string>& empty, size_t classes, const std::string& what,
                               const std::string& kind = "classes");

// Returns the source as an absolute path, valid in any working directory; "furniture" is unchanged.
std::filesystem::path absolute_source(const std::filesystem::path& source);

// Reads one file for prediction: a mesh is sampled (options.points_per_mesh, options.seed), a cloud is used unchanged.
// Adds to `warnings` what was left out of the file, and if points were sampled, that they were. Stores what the file
// holds, in float64, in `content`.
Shape read_shape(const std::filesystem::path& file, const PointDatasetOptions& options = {},
                 std::vector<std::string>* warnings = nullptr, FileShape* content = nullptr);

}  // namespace geosft
