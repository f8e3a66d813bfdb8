// SPDX-License-Identifier: Apache-2.0
// Lists the default dataset: 429 models of Debian's sweethome3d-furniture, with this project's class and split labels.
#pragma once

#include "data/points/file_dataset.h"

namespace geosft {

// Lists 17 classes with 301 train and 128 test models (data/points/furniture_labels.csv, compiled into the library).
// `folder` is where the package installs its *.sh3f files. Throws DataError if one of them is missing.
DatasetListing list_furniture(Split split, const std::filesystem::path& folder = "/usr/share/sweethome3d/furniture");

}  // namespace geosft
