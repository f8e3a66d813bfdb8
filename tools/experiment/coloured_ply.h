// SPDX-License-Identifier: Apache-2.0
// Writes coloured clouds, graphs and meshes as PLY files for other viewers.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>

namespace geosft {

struct ColouredPly {
  at::Tensor points;                 // [n, 3], written as double if it is float64, else as float
  at::Tensor colours;                // [n, 3] in [0, 1]
  at::Tensor values = {};            // [n] shown by the colours, int or float; undefined: not written
  std::string value_name = "value";  // name of their property
  at::Tensor edges = {};             // int64 [E, 2], rows of points; undefined: no edges
  at::Tensor faces = {};             // int64 [F, 3], rows of points; undefined: no faces
  at::Tensor normals = {};           // [n, 3], written as float; undefined: not written
};

// Writes a binary PLY (x y z, nx ny nz, red green blue). Throws c10::Error for shapes that do not match, DataError if
// the file cannot be written.
void write_coloured_ply(const std::filesystem::path& file, const ColouredPly& content);

// Returns an error about the name of a file to be written as PLY, if it ends as another format of shapes does; empty
// otherwise.
std::string ply_name_error(const std::string& name);

}  // namespace geosft
