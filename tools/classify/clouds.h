// SPDX-License-Identifier: Apache-2.0
// Transforms of clouds for the evaluation of classifiers.
#pragma once

#include <cstdint>

#include "tools/classify/settings.h"
#include "tools/experiment/cloud_transforms.h"

namespace geosft {

// Rotates the whole cloud with the generator and normalises it; offset and scale of the shape lead back to the file's
// coordinates, where the cloud is turned about its centroid. The subset of points depends on the seed `vote` only,
// so that a cloud and its rotated copy keep the same points.
ShapeTransform evaluation_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote);

}  // namespace geosft
