// SPDX-License-Identifier: Apache-2.0
// Coloured clouds for other viewers.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>

namespace geosft {

// Writes points [n, 3] with colours [n, 3] in [0, 1] as a binary PLY (x y z, red green blue), with the values [n] that
// the colours stand for as a property of this name where they are defined (int or float, as they are), and edges int64
// [E, 2] between rows of points where they are. Throws c10::Error for shapes that do not fit, DataError where the file
// cannot be written.
void write_coloured_ply(const std::filesystem::path& file, const at::Tensor& points, const at::Tensor& colours,
                        const at::Tensor& values = {}, const at::Tensor& edges = {},
                        const std::string& value_name = "value");

}  // namespace geosft
