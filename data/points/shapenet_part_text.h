// SPDX-License-Identifier: Apache-2.0
// Reads the two text formats of ShapeNetPart; see open_part_dataset.
#pragma once

#include "data/points/part_dataset.h"

namespace geosft {

bool is_shapenet_part_text(const std::filesystem::path& folder);
// Opens a split of the dataset. Throws DataError; broken shapes are detected only when they are read.
std::unique_ptr<PartDataset> open_shapenet_part_text(const std::filesystem::path& folder, PartSplit split,
                                                     const ShapeReadOptions& options = {});

}  // namespace geosft
