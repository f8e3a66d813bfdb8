// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "data/points/point_dataset.h"
#include "tools/classify/settings.h"

namespace geosft {

// Opens a split of the dataset in the settings; shows progress on stderr while meshes are sampled.
std::unique_ptr<PointDataset> open_dataset(const ClassifySettings& settings, Split split);

}  // namespace geosft
