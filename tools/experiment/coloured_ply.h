// SPDX-License-Identifier: Apache-2.0
// Coloured clouds, graphs and meshes for other viewers.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>

namespace geosft {

struct ColouredPly {
  at::Tensor points;                 // [n, 3]
  at::Tensor colours;                // [n, 3] in [0, 1]
  at::Tensor values = {};            // [n] that the colours stand for, int or float; undefined: none are written
  std::string value_name = "value";  // the property that they become
  at::Tensor edges = {};             // int64 [E, 2], rows of points; undefined: none
  at::Tensor faces = {};             // int64 [F, 3], the same
};

// Writes a binary PLY (x y z, red green blue). Throws c10::Error for shapes that do not fit, DataError where the file
// cannot be written.
void write_coloured_ply(const std::filesystem::path& file, const ColouredPly& content);

}  // namespace geosft
