// SPDX-License-Identifier: Apache-2.0
// Reads clouds of equal size from HDF5 files, in the form of ModelNet40, ShapeNetPart and similar sets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/points/array_dataset.h"

namespace geosft {

// The files that a text names, one a line. Only the last part of a name counts: whatever folders stand before it, they
// lie beside the text, and it cannot lead elsewhere.
std::vector<std::filesystem::path> listed_clouds(const std::filesystem::path& list);

// All ply_data_SPLIT*.h5 of a folder, sorted; `split` is train, val or test.
std::vector<std::filesystem::path> unlisted_clouds(const std::filesystem::path& folder, const std::string& split);

// What the files hold, one after the other. In each: `data` [N, P, 3], `label` [N] or [N, 1] below `classes`, and in
// all of them or in none `normal` [N, P, 3]; `pid` [N, P], the parts of the points, where they are wanted. Throws
// DataError naming the file, and the cloud in it that is broken.
CloudArrays read_clouds(const std::vector<std::filesystem::path>& files, size_t classes, bool with_parts = false);

}  // namespace geosft
