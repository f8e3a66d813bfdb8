// SPDX-License-Identifier: Apache-2.0
// PLY meshes and clouds: text, binary little endian, binary big endian.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Vertices (x, y, z), their normals (nx, ny, nz) where given, and faces (vertex_indices or vertex_index; polygons
// become fans). Other properties and elements are passed over; triangle strips are refused. Throws DataError on a
// broken file.
FileShape read_ply(std::string_view bytes, const std::string& file);

}  // namespace geosft
