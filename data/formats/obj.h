// SPDX-License-Identifier: Apache-2.0
// Wavefront OBJ: vertices and faces; everything else (materials, groups, texture coordinates) is passed over.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Corners `v`, `v/vt`, `v//vn`, `v/vt/vn`, from 1 or, negative, from the last vertex so far; polygons become fans;
// faces of 2 corners, which have no area, are passed over; a backslash continues a line. Throws DataError, with the
// line, on anything else and on a file without faces.
FileShape read_obj(std::string_view text, const std::string& file);

}  // namespace geosft
