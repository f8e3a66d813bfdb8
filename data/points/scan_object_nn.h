// SPDX-License-Identifier: Apache-2.0
// ScanObjectNN's HDF5 form.
#pragma once

#include "data/points/point_dataset.h"

namespace geosft {

// Whether `source` is a file *_objectdataset*.h5 of this set, or a folder that holds such files or main_split/ with
// them.
bool is_scan_object_nn(const std::filesystem::path& source);

// training_objectdataset.h5 or test_objectdataset.h5. A file names its variant: with
// …/training_objectdataset_augmentedrot_scale75.h5 both splits are of that kind. A folder means the plain variant, or
// the only one in it. `data` [N, P, 3], `label` [N], `mask` [N, P] (-1: background), 15 classes, no normals. Throws
// DataError.
std::unique_ptr<PointDataset> open_scan_object_nn(const std::filesystem::path& source, Split split,
                                                  bool drop_background);

}  // namespace geosft
