// SPDX-License-Identifier: Apache-2.0
// Implements datasets whose items are files or members of zip files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/formats/zip_archive.h"
#include "data/points/point_dataset.h"
#include "data/points/shape_cache.h"

namespace geosft {

struct DatasetItem {
  std::string name;  // unique in the dataset; determines the sampling together with the seed
  int64_t label;
  std::filesystem::path file;  // the shape, or the zip file that holds it
  std::string member;          // member of the zip file; empty if `file` is the shape
};

// A file, and what was left out of it or assumed, a phrase for each.
using FileWarnings = std::pair<std::string, std::vector<std::string>>;
// Returns, of the warnings that differ in numbers alone, the first one with its file and the number of other files that
// have the like.
std::vector<std::string> first_of_each_kind(const std::vector<FileWarnings>& files);

// Items found in folders and lists before any shape is read.
struct DatasetListing {
  std::vector<DatasetItem> items;
  std::vector<std::string> class_names;
  std::vector<std::string> warnings;
  std::string columns = {};  // of the tables of this form, where the options name none
};

// Reads and samples all uncached items in parallel; if nothing can be cached, the samples stay in memory. Items are
// read from the cache on demand; a damaged cache file is recreated. The warnings name the first file of which something
// was left out or assumed, and count the others, whether or not they come from the cache.
class FileDataset final : public PointDataset {
 public:
  // Throws BrokenFiles with all broken items.
  FileDataset(DatasetListing listing, const PointDatasetOptions& options);
  int64_t size() const override { return static_cast<int64_t>(listing_.items.size()); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override;
  std::string name(int64_t index) const override;
  const std::vector<std::string>& class_names() const override { return listing_.class_names; }
  // Returns whether every item has normals; otherwise `get` returns no normals.
  bool has_normals() const override { return file_without_normals_.empty(); }
  std::string file_without_normals() const override { return file_without_normals_; }
  std::vector<std::string> warnings() const override { return listing_.warnings; }

 private:
  SampledShape sample(const DatasetItem& item) const;
  std::string cache_id(const DatasetItem& item) const;
  std::string cache_key(const DatasetItem& item) const;
  // Describes each item once the cache is filled.
  struct ItemNotes {
    bool with_normals = false;
    std::vector<std::string> warnings;
  };
  ItemNotes notes_on(const SampledShape& sampled) const;
  std::vector<int64_t> find_missing(std::vector<ItemNotes>& notes);
  void fill_cache(const std::vector<int64_t>& missing, std::vector<ItemNotes>& notes);
  void take_notes(const std::vector<ItemNotes>& notes);

  DatasetListing listing_;
  PointDatasetOptions options_;
  ShapeCache cache_;
  std::map<std::filesystem::path, ZipArchive> archives_;
  std::vector<std::string> keys_;
  std::vector<Shape> in_memory_;  // one per item; points undefined if the item is in the cache
  std::string file_without_normals_;
};

// Returns what the points [n, 3] of a training cloud have that misleads a model of its shape
// (geometry/cloud_warnings.h), or that they are fewer than 16.
std::vector<std::string> training_cloud_warnings(const at::Tensor& points);

}  // namespace geosft
