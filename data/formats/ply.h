// SPDX-License-Identifier: Apache-2.0
// Reads PLY meshes and clouds: text, binary little endian, binary big endian.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Reads vertices (x, y, z), their normals (nx, ny, nz) if present, and faces (vertex_indices or vertex_index; polygons
// are split into triangles) or triangle strips (tristrips). Other properties and elements are ignored. Throws DataError
// for a broken file.
FileShape read_ply(std::string_view bytes, const std::string& file);

}  // namespace geosft
