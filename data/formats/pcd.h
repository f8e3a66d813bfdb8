// SPDX-License-Identifier: Apache-2.0
// PCD clouds of the Point Cloud Library, version 0.7 and before: ascii, binary, binary_compressed.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Fields x, y, z and, where given, normal_x, normal_y, normal_z; other fields are passed over. Throws DataError on a
// broken file, and on points that are not finite (as organised clouds use for holes).
FileShape read_pcd(std::string_view bytes, const std::string& file);

}  // namespace geosft
