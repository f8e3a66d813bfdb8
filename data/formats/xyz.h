// SPDX-License-Identifier: Apache-2.0
// Reads clouds from tables of text: XYZ, TXT, ASC, PTS, CSV.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Reads one point per line. Fields are separated by blanks, commas or semicolons; with semicolons a comma is a decimal
// one. '#' begins a comment. Lines before the first point may name the columns, tell the number of points, or hold
// anything else. Without names the columns are x, y, z and those of data/formats/point_columns.h; other columns are
// ignored. Throws DataError, with the line, for a varying number of columns and for coordinates that are not finite
// numbers.
// `columns` names the columns of all rows, such as "x,y,z,r,g,b" (option --columns); names in the file are then
// ignored.
FileShape read_xyz(std::string_view text, const std::string& file, const std::string& columns = {});

}  // namespace geosft
