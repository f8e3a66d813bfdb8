// SPDX-License-Identifier: Apache-2.0
// The embedded default: 429 models of Debian's sweethome3d-furniture, with this project's class and split labels.
#pragma once

#include "data/points/file_dataset.h"

namespace geosft {

// 17 classes, 301 train and 128 test models (data/points/furniture_labels.csv, compiled into the library). Throws
// DataError when `folder`, where the package has its *.sh3f files, lacks one of them.
DatasetListing list_furniture(Split split, const std::filesystem::path& folder = "/usr/share/sweethome3d/furniture");

}  // namespace geosft
