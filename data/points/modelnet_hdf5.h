// SPDX-License-Identifier: Apache-2.0
// Reads the HDF5 format of ModelNet40.
#pragma once

#include "data/points/point_dataset.h"

namespace geosft {

// Returns whether `folder` holds this format: train_files.txt or test_files.txt, or ply_data_train*.h5 or
// ply_data_test*.h5.
bool is_modelnet_hdf5(const std::filesystem::path& folder);

// Opens the files listed in train_files.txt or test_files.txt (only their file names are used: they lie in `folder`)
// or, without a list, all ply_data_train*.h5 or ply_data_test*.h5. Each holds `data` [N, P, 3], `label` [N] or [N, 1],
// and either all or none `normal` [N, P, 3]. Coordinates in float64 that are far from the origin are centred
// (set_clouds). Class names: shape_names.txt, one per line; a warning names those without a cloud. Throws DataError.
std::unique_ptr<PointDataset> open_modelnet_hdf5(const std::filesystem::path& folder, Split split);

}  // namespace geosft
