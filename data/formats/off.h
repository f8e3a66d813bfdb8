// SPDX-License-Identifier: Apache-2.0
// Reads OFF meshes, including those of ModelNet.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Format: "OFF", then the numbers of vertices, faces and edges (in ModelNet often on the first line, even without a
// blank: "OFF123 456 0"), then the vertices, then the faces "n i1 … in [colour]", each on a line of its own or, if
// there are fewer lines than that, with line breaks anywhere. COFF, NOFF, CNOFF, … are accepted, also in lower case,
// but colours and normals are ignored. A file without faces is a cloud. What follows the faces is ignored. Throws
// DataError, with the line, for anything else.
FileShape read_off(std::string_view text, const std::string& file);

}  // namespace geosft
