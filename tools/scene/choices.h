// SPDX-License-Identifier: Apache-2.0
// Lists the colourings of a subject and resolves the layer, head and query they show.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/scene/subject.h"

namespace geosft::view {

enum class Colouring {
  height,      // y
  normals,     // directions as red, green, blue
  parts,       // predicted by a segmentation model
  true_parts,  // of a labelled cloud
  elements,    // of the atoms of a molecule
  importance,  // the score of a sampler
  samples,     // sampled tokens and their partners, sized by their weights
  attention,   // attention weights of one query
  diversity,   // diversity of the heads of a layer
  walks,       // a component of the random-walk encoding of a graph
};
const char* colouring_name(Colouring colouring);
// Throws UsageError listing all names for an unknown one.
Colouring colouring_of(const std::string& name);

// User choices. Layers count from 1; 0 is the sampler of the model's head, for importance and samples. Heads count from
// 1; 0 is their mean. Defaults: the head's sampler if it exists, else the last layer; all heads; the most important
// point, or the first one if the model does not sample; the second component.
struct Choices {
  Colouring colouring = Colouring::importance;
  std::optional<int64_t> layer, head, query, component;
  ColourMap map = ColourMap::viridis;
  bool surface = false;              // draw the surface of a mesh in place of its points
  std::optional<Colour> background;  // white if not set; of a page, as its reader's system is
  bool hydrogens = true;             // draw those of a molecule
  bool discs = false;                // draw points with normals as discs along the surface
  bool labels = false;               // write the symbol or the number of each node
  std::optional<ValueScale> scale;   // of the values; that of the subject if not set
};

// Returns the available colourings of a subject, in the order in which a key cycles through them.
std::vector<Colouring> colourings_of(const Subject& subject);
// Returns the default colouring: the first available of parts, true_parts, importance, attention,
// elements, walks, height.
Colouring usual_colouring(const Subject& subject);

// Returns the colour of "white", "black", "grey" or "#RRGGBB". Throws UsageError for anything else.
Colour background_of(const std::string& text);

// Throws UsageError if an option was given (--layer, --head, --query, --component, --map) that the colouring does not
// take. `given` returns whether an option was given.
void check_takes(Colouring colouring, const std::function<bool(const std::string& option)>& given);

// Throws UsageError for a colouring that the subject does not support.
void check_has(const Subject& subject, Colouring colouring);

// Return the layers that the colouring of a subject can show, and the chosen one. Throws UsageError for any other
// layer.
std::vector<int64_t> layers_of(const Subject& subject, Colouring colouring);
int64_t chosen_layer(const Subject& subject, const Choices& choices);

}  // namespace geosft::view
