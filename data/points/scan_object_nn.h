// SPDX-License-Identifier: Apache-2.0
// Reads the HDF5 format of ScanObjectNN.
#pragma once

#include "data/points/point_dataset.h"

namespace geosft {

// Returns whether `source` is a file *_objectdataset*.h5, or a folder that holds such files directly or in main_split/.
bool is_scan_object_nn(const std::filesystem::path& source);

// Opens training_objectdataset.h5 or test_objectdataset.h5. A file selects its variant:
// …/training_objectdataset_augmentedrot_scale75.h5 selects both splits of that variant. A folder selects the plain
// variant, with a warning if there are others, or the only one in it. Coordinates in float64 that are far from the
// origin are centred (set_clouds). The files hold `data` [N, P, 3], `label` [N], `mask` [N, P] (-1: background), 15
// classes, no normals. Throws DataError.
std::unique_ptr<PointDataset> open_scan_object_nn(const std::filesystem::path& source, Split split,
                                                  bool drop_background);

}  // namespace geosft
