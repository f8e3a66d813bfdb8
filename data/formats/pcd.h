// SPDX-License-Identifier: Apache-2.0
// Reads PCD clouds of the Point Cloud Library, versions 0.5 to 0.7: ascii, binary, binary_compressed.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Reads the fields x, y, z and, if present, normal_x, normal_y, normal_z; other fields are ignored. Points may
// be NaN, as holes of organised clouds are. Throws DataError for a broken file.
FileShape read_pcd(std::string_view bytes, const std::string& file);

}  // namespace geosft
