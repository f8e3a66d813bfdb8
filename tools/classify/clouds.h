// SPDX-License-Identifier: Apache-2.0
// What becomes of a shape before the model sees it.
#pragma once

#include <cstdint>

#include "tools/classify/settings.h"
#include "tools/experiment/cloud_transforms.h"

namespace geosft {

// Evaluation: the whole cloud is rotated by the generator's rotation and normalised; the subset of the points is drawn
// by the seed `vote` alone, so that a cloud and its rotated copy keep the same points.
ShapeTransform evaluation_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote);

}  // namespace geosft
