// SPDX-License-Identifier: Apache-2.0
// OFF meshes, ModelNet's included.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// "OFF", then the numbers of vertices, faces and edges (in ModelNet often on the first line, even without a blank:
// "OFF123 456 0"), then the vertices, then the faces "n i1 … in [colour]". Vertices of COFF, NOFF, CNOFF … are read,
// their colours and normals are not. Throws DataError, with the line, on anything else.
FileShape read_off(std::string_view text, const std::string& file);

}  // namespace geosft
