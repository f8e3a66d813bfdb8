// SPDX-License-Identifier: Apache-2.0
// Converts a subject to a scene by colouring its points.
#pragma once

#include "tools/scene/choices.h"
#include "tools/scene/scene.h"

namespace geosft::view {

// From the colour-blind safe palette of Okabe and Ito.
inline constexpr Colour top_colour = {0.90, 0.62, 0.00}, partner_colour = {0.34, 0.71, 0.91},
                        query_colour = {0.84, 0.37, 0.00};
inline constexpr Colour other_colour = {0.78, 0.78, 0.78};  // of points outside the sample

// Returns the query of the attention colouring: the chosen one, else the most important point, else 0. Throws
// UsageError for a point that does not exist.
int64_t chosen_query(const Subject& subject, const Choices& choices);

// Returns whether a colouring shows a value per point: all but normals, parts, elements and samples do.
bool has_values(Colouring colouring);
// Returns whether each point has a class of its own in the colouring.
bool has_labels(Colouring colouring);

// Returns one value per point, [n], for a colouring that has_values. Throws UsageError for a
// layer, head, query or component that does not exist.
at::Tensor values_of(const Subject& subject, const Choices& choices);

// Returns the scene of the subject and of its rotated copy, on the same colour scale, with legend and texts. Throws
// UsageError as values_of does, and for a colouring that the subject does not support.
Scene scene_of(const Subject& subject, const Choices& choices);

}  // namespace geosft::view
