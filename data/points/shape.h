// SPDX-License-Identifier: Apache-2.0
// One point cloud with its label, and the error of every reader.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace geosft {

// A cloud as a dataset hands it out. Nothing is normalised yet: coordinates are in the file's own unit.
struct Shape {
  at::Tensor points;   // float32 [n, 3]
  at::Tensor normals;  // float32 [n, 3] of unit length, or undefined where the source has none
  int64_t label = -1;  // index into the dataset's class names; -1 when unknown
  std::string name;    // unique within the dataset, for messages and tables
  // int64 [n]: part of every point, an index into the dataset's parts; undefined where the source has none.
  at::Tensor parts = {};
};

// A file that is not what it should be. The text names the file, what was expected and what was found.
class DataError : public std::runtime_error {
 public:
  DataError(const std::string& file, const std::string& expected, const std::string& found)
      : std::runtime_error(file + ": expected " + expected + ", found " + found) {}
  // The text of such an error.
  explicit DataError(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace geosft
