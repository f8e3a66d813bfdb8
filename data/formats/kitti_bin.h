// SPDX-License-Identifier: Apache-2.0
// Reads the laser scans of KITTI and of datasets in its format.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Reads float32 numbers without a header: x, y, z and intensity of each point, and in files *.pcd.bin (nuScenes) the
// laser's ring as well. Intensity and ring are ignored. Throws DataError for a size that is no multiple of a point and
// for coordinates beyond 100 km, which no scan has.
FileShape read_kitti_bin(std::string_view bytes, const std::string& file);

}  // namespace geosft
