// SPDX-License-Identifier: Apache-2.0
// ShapeNetPart's two text forms; see open_part_dataset.
#pragma once

#include "data/points/part_dataset.h"

namespace geosft {

bool is_shapenet_part_text(const std::filesystem::path& folder);
// Throws DataError; a shape that is broken is found when it is asked for.
std::unique_ptr<PartDataset> open_shapenet_part_text(const std::filesystem::path& folder, PartSplit split);

}  // namespace geosft
