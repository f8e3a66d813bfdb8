// SPDX-License-Identifier: Apache-2.0
// Reads STL meshes, binary and text.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Returns three vertices per triangle, as stored; the facet normals of the file are ignored. A file whose size matches
// its binary triangle count is binary, even if it begins with "solid"; another one that begins so is text, whose
// keywords may be in any case and on any line. Bytes after the last facet are ignored. Throws DataError for a broken
// file.
FileShape read_stl(std::string_view bytes, const std::string& file);

}  // namespace geosft
