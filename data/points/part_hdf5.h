// SPDX-License-Identifier: Apache-2.0
// Reads datasets in the HDF5 format of ShapeNetPart; see open_part_dataset.
#pragma once

#include "data/points/part_dataset.h"

namespace geosft {

bool is_part_hdf5(const std::filesystem::path& folder);
bool part_hdf5_has_validation(const std::filesystem::path& folder);
// Opens a split of the dataset. Throws DataError.
std::unique_ptr<PartDataset> open_part_hdf5(const std::filesystem::path& folder, PartSplit split);

}  // namespace geosft
