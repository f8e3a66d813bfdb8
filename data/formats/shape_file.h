// SPDX-License-Identifier: Apache-2.0
// Shape files of any supported format.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/formats/file_shape.h"
#include "data/points/shape.h"

namespace geosft {

// Whether the name ends in one of shape_extensions(), in any case.
bool has_shape_extension(const std::filesystem::path& file);
// ".ply, .obj, .off, .stl, .pcd, .xyz or .txt": the extensions of all formats, for messages.
std::string shape_extensions();

// Reads `bytes` in the format that the extension of `file` names. Throws DataError.
FileShape parse_shape(std::string_view bytes, const std::string& file);

// A mesh: `points` points on its surface with face normals, drawn uniformly by area from `seed`. A cloud: as it is,
// with its normals. `file` is for messages; label and name are left empty. Throws DataError for a mesh without area.
Shape to_cloud(const FileShape& shape, int64_t points, uint64_t seed, const std::string& file);

}  // namespace geosft
