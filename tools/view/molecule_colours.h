// SPDX-License-Identifier: Apache-2.0
// Names and colours the atoms of a molecule, and counts the lines of its bonds.
#pragma once

#include <optional>

#include "data/packed_items.h"
#include "tools/scene/subject.h"

namespace geosft::view {

// Returns the element of each node of a graph, whose first categorical feature is the atomic number - 1 (Open Graph
// Benchmark, XYZ files), in the colours of Corey, Pauling and Koltun; nullopt for graphs with other features.
std::optional<PointLabels> elements_of(const ItemSchema& schema, const FeaturedGraphs& molecule);

// Returns the number of lines of each of its edges, int64 [E]: 1, 2 or 3, and 4 for an aromatic bond; an undefined
// tensor for graphs whose edges have other features than the bonds of molecule_features.h.
at::Tensor bond_lines(const ItemSchema& schema, const FeaturedGraphs& molecule);

}  // namespace geosft::view
