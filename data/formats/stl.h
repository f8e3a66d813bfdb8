// SPDX-License-Identifier: Apache-2.0
// STL meshes, binary and text.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Three vertices a triangle, as stored; the facet normals of the file are not used. A file whose size fits its binary
// count is binary, even when it begins with "solid" as some do. Throws DataError on a broken file.
FileShape read_stl(std::string_view bytes, const std::string& file);

}  // namespace geosft
