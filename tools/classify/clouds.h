// SPDX-License-Identifier: Apache-2.0
// What becomes of a shape before the model sees it.
#pragma once

#include <cstdint>
#include <string>

#include "data/point_loader.h"
#include "tools/classify/settings.h"

namespace geosft {

// Training: a random subset of the points, rotated by option, normalised (centroid, largest distance), scaled,
// jittered, with a share of its points dropped.
ShapeTransform training_transform(const ClassifySettings& settings);

enum class Rotation { none, z, so3 };
Rotation rotation_of(const std::string& name);  // "none", "z" or "so3"

// Evaluation: the whole cloud is rotated by the generator's rotation and normalised; the subset of the points is drawn
// by the seed `vote` alone, so that a cloud and its rotated copy keep the same points.
ShapeTransform evaluation_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote);

}  // namespace geosft
