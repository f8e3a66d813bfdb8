// SPDX-License-Identifier: Apache-2.0
// Reads clouds of equal size from HDF5 files in the format of ModelNet40, ShapeNetPart and similar datasets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/points/array_dataset.h"

namespace geosft {

// Returns the files listed in a text file, one per line. Only the file name of each path is used: the files lie next to
// the list, and a path cannot lead elsewhere.
std::vector<std::filesystem::path> listed_clouds(const std::filesystem::path& list);

// Returns all ply_data_SPLIT*.h5 of a folder, sorted; `split` is train, val or test.
std::vector<std::filesystem::path> unlisted_clouds(const std::filesystem::path& folder, const std::string& split);

// Reads and concatenates the files. Each holds `data` [N, P, 3] (set_clouds), `label` [N] or [N, 1] below `classes`,
// either all or none `normal` [N, P, 3], and, if `with_parts`, `pid` [N, P], the parts of the points. Throws DataError
// naming the file and the broken cloud.
CloudArrays read_clouds(const std::vector<std::filesystem::path>& files, size_t classes, bool with_parts = false);

}  // namespace geosft
