// SPDX-License-Identifier: Apache-2.0
// Converts a subject to a scene: the colours of the points.
#pragma once

#include "tools/view/choices.h"
#include "tools/view/scene.h"

namespace geosft::view {

// One value per point, [n], for all colourings but normals, parts and samples. Throws UsageError for a layer, head,
// query or component that does not exist.
at::Tensor values_of(const Subject& subject, const Choices& choices);

// The subject, and its rotated copy on the same scale, with legend and texts. Throws UsageError for what values_of
// does, and for a colouring that needs what the subject lacks.
Scene scene_of(const Subject& subject, const Choices& choices);

}  // namespace geosft::view
