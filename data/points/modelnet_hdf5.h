// SPDX-License-Identifier: Apache-2.0
// ModelNet40's HDF5 form.
#pragma once

#include "data/points/point_dataset.h"

namespace geosft {

// Whether `folder` holds this form: train_files.txt or test_files.txt, or ply_data_train*.h5 or ply_data_test*.h5.
bool is_modelnet_hdf5(const std::filesystem::path& folder);

// The files that train_files.txt or test_files.txt lists (by name: whatever folders stand before it, they lie in
// `folder`), or without such a list all ply_data_train*.h5 or ply_data_test*.h5. In each: `data` [N, P, 3], `label` [N]
// or [N, 1], and `normal` [N, P, 3] in all of them or in none. Class names: shape_names.txt, a line each. Throws
// DataError.
std::unique_ptr<PointDataset> open_modelnet_hdf5(const std::filesystem::path& folder, Split split);

}  // namespace geosft
