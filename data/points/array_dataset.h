// SPDX-License-Identifier: Apache-2.0
// Implements datasets that are held in memory, e.g. those read from HDF5 files.
#pragma once

#include "data/points/point_dataset.h"

namespace geosft {

// Clouds that a reader returns. ArrayDataset checks them, so that all readers follow the same rules. A reader that
// joins files checks each file first, so that the error names the file.
struct CloudArrays {
  at::Tensor points;               // float32 [N, P, 3]
  at::Tensor normals;              // float32 [N, P, 3] or undefined
  at::Tensor keep;                 // bool [N, P]: points that belong to the cloud; undefined: all
  at::Tensor labels;               // int64 [N]
  std::vector<std::string> names;  // N, unique
  at::Tensor parts = {};           // int64 [N, P]: Shape::parts of each cloud; undefined: no parts
  at::Tensor offset = {};          // float64 [N, 3]: Shape::offset of each cloud, 0 for none; undefined: none
  std::vector<std::string> warnings = {};
};

// Sets points and offset from coordinates [N, P, 3], float32 or float64. Clouds of the latter that are far from the
// origin are centred before the cast to float32. Coordinates of another shape are kept for check_clouds.
void set_clouds(CloudArrays& arrays, const at::Tensor& coordinates);

// Adds a warning if some of `classes` have no cloud; `file` names the split.
void warn_of_empty_classes(CloudArrays& arrays, const std::vector<std::string>& classes, const std::string& file);

// Throws DataError, naming `file` and the cloud, unless the shapes above hold with N, P >= 1, all numbers are finite,
// labels lie in [0, classes) and every cloud keeps a point. Part ids are not checked.
void check_clouds(const CloudArrays& arrays, size_t classes, const std::string& file);

// Returns "stem:0", "stem:1", …: names for the clouds of `file`, from its name without the extension.
std::vector<std::string> numbered_clouds(const std::filesystem::path& file, int64_t count);

class ArrayDataset final : public PointDataset {
 public:
  // Checks the arrays with check_clouds and scales normals to unit length. A normal of length 0 is none: those of a
  // cloud that has others are estimated, with a warning, and a cloud of such alone has no normals.
  ArrayDataset(CloudArrays arrays, std::vector<std::string> class_names, const std::string& file);
  int64_t size() const override { return arrays_.points.size(0); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override;
  std::string name(int64_t index) const override;
  const std::vector<std::string>& class_names() const override { return class_names_; }
  bool has_normals() const override { return arrays_.normals.defined() && !bare_.defined(); }
  bool in_memory() const override { return true; }
  std::vector<std::string> warnings() const override { return arrays_.warnings; }

 private:
  void warn_of_coarse_coordinates(const std::string& file);
  void complete_normals(const std::string& file);

  CloudArrays arrays_;
  at::Tensor bare_;  // bool [N]: clouds without normals, where others have some; else undefined
  std::vector<std::string> class_names_;
};

// Throws std::out_of_range unless 0 <= index < size.
void check_item(int64_t index, int64_t size);

// Returns e.g. "[2, 1024, 3]", for messages.
std::string shape_text(const at::Tensor& tensor);

}  // namespace geosft
