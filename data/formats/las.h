// SPDX-License-Identifier: Apache-2.0
// Reads LAS clouds of airborne and terrestrial laser scanners.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Follows the name of a compressed file in messages.
constexpr const char* laz_converters = "`pdal translate IN.laz OUT.las` or `laspy decompress IN.laz` converts it";

// Reads the coordinates of versions 1.0 to 1.4 with point data record formats 0 to 10: X, Y and Z times the scale plus
// the offset of the header, in double precision. Everything else (intensity, classes, colours, waveforms) is ignored,
// and no point is left out. Throws DataError for a broken file and for compressed records (LAZ), naming a converter.
FileShape read_las(std::string_view bytes, const std::string& file);

}  // namespace geosft
