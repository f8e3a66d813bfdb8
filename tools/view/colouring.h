// SPDX-License-Identifier: Apache-2.0
// Converts a subject to a scene by colouring its points.
#pragma once

#include "tools/view/choices.h"
#include "tools/view/scene.h"

namespace geosft::view {

// Returns one value per point, [n], for all colourings except normals, parts and samples. Throws UsageError for a
// layer, head, query or component that does not exist.
at::Tensor values_of(const Subject& subject, const Choices& choices);

// Returns the scene of the subject and of its rotated copy, on the same colour scale, with legend and texts. Throws
// UsageError as values_of does, and for a colouring that the subject does not support.
Scene scene_of(const Subject& subject, const Choices& choices);

}  // namespace geosft::view
