// SPDX-License-Identifier: Apache-2.0
// Reads clouds from text.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Reads one point per line, "x y z" or "x y z nx ny nz", separated by blanks or commas; '#' begins a comment. Throws
// DataError, with the line, for any other or a varying number of columns, and for non-finite or non-numeric words.
FileShape read_xyz(std::string_view text, const std::string& file);

}  // namespace geosft
