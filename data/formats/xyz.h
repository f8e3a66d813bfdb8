// SPDX-License-Identifier: Apache-2.0
// Clouds as text.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// A point a line, "x y z" or "x y z nx ny nz", with blanks or commas; '#' begins a comment. Throws DataError, with the
// line, on any other number of columns, on a change of columns, and on what is not a finite number.
FileShape read_xyz(std::string_view text, const std::string& file);

}  // namespace geosft
