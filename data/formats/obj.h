// SPDX-License-Identifier: Apache-2.0
// Reads vertices and faces of Wavefront OBJ; everything else (materials, groups, texture coordinates) is ignored.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Accepts corners `v`, `v/vt`, `v//vn`, `v/vt/vn`, counted from 1 or, if negative, from the last vertex so far.
// Polygons are split into triangles, and faces with fewer than 3 corners are left out with a warning. A backslash
// continues a line. Without faces the vertices are a cloud, whose normals are the `vn` if there are as many. Throws
// DataError, with the line, for anything else.
FileShape read_obj(std::string_view text, const std::string& file);

}  // namespace geosft
