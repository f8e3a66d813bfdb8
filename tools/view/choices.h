// SPDX-License-Identifier: Apache-2.0
// The colourings of a subject.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/view/subject.h"

namespace geosft::view {

enum class Colouring {
  height,      // y
  normals,     // directions as red, green, blue
  parts,       // of a shape, as a segmentation model finds them
  importance,  // the score of a sampler
  samples,     // tokens that a sampler took, and their partners, sized by their weights
  attention,   // of one query
  diversity,   // how differently the heads of a layer look
  walks,       // a component of the random-walk encoding of a graph
};
const char* colouring_name(Colouring colouring);
// Throws UsageError naming all for another name.
Colouring colouring_of(const std::string& name);

// What can be chosen. Layers count from 1; 0 is the sampler of the model's head, for importance and samples. Heads
// count from 1; 0 is their mean. Nothing chosen: the head's sampler where there is one, else the last layer; all heads;
// the most important point, or the first one where the model samples nothing; the second component.
struct Choices {
  Colouring colouring = Colouring::importance;
  std::optional<int64_t> layer, head, query, component;
  ColourMap map = ColourMap::viridis;
};

// The available colourings of a subject, in the order in which a key cycles through them.
std::vector<Colouring> colourings_of(const Subject& subject);
// The default colouring: parts, else importance, attention, walks, height.
Colouring usual_colouring(const Subject& subject);

// Throws UsageError for an option of the command line (--layer, --head, --query, --component, --map) that was given and
// that the colouring does not take. `given` says of an option whether it was.
void check_takes(Colouring colouring, const std::function<bool(const std::string& option)>& given);

// Throws UsageError for a colouring that the subject does not support.
void check_has(const Subject& subject, Colouring colouring);

// The layers that the colouring of a subject can be of, and the one that the choices mean. Throws UsageError when they
// name another.
std::vector<int64_t> layers_of(const Subject& subject, Colouring colouring);
int64_t chosen_layer(const Subject& subject, const Choices& choices);

}  // namespace geosft::view
