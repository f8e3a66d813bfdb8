// SPDX-License-Identifier: Apache-2.0
// Datasets that are held in memory, such as those of HDF5 files.
#pragma once

#include "data/points/point_dataset.h"

namespace geosft {

// The clouds that a reader returns. ArrayDataset checks them, so that every reader's data meet the same rules. A reader
// that joins files checks each file first, so that an error names the file.
struct CloudArrays {
  at::Tensor points;               // float32 [N, P, 3]
  at::Tensor normals;              // float32 [N, P, 3] or undefined
  at::Tensor keep;                 // bool [N, P]: points that belong to the cloud; undefined: all
  at::Tensor labels;               // int64 [N]
  std::vector<std::string> names;  // N, unique
  at::Tensor parts = {};           // int64 [N, P]: part of every point; undefined: none
};

// Throws DataError, naming `file` and the cloud, unless the shapes above hold with N, P >= 1, all numbers are finite,
// labels lie in [0, classes) and every cloud keeps a point. What parts there are is not known here.
void check_clouds(const CloudArrays& arrays, size_t classes, const std::string& file);

// "stem:0", "stem:1", …: the clouds of `file`, by its name without the ending.
std::vector<std::string> numbered_clouds(const std::filesystem::path& file, int64_t count);

class ArrayDataset final : public PointDataset {
 public:
  // Throws what check_clouds throws. Normals are scaled to unit length.
  ArrayDataset(CloudArrays arrays, std::vector<std::string> class_names, const std::string& file);
  int64_t size() const override { return arrays_.points.size(0); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override;
  const std::vector<std::string>& class_names() const override { return class_names_; }
  bool has_normals() const override { return arrays_.normals.defined(); }

 private:
  CloudArrays arrays_;
  std::vector<std::string> class_names_;
};

// Throws std::out_of_range unless 0 <= index < size.
void check_item(int64_t index, int64_t size);

// "[2, 1024, 3]", for messages.
std::string shape_text(const at::Tensor& tensor);

}  // namespace geosft
