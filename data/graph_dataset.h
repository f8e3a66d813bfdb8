// SPDX-License-Identifier: Apache-2.0
// Graph datasets from any of the supported sources.
#pragma once

#include <filesystem>

#include "data/packed_graphs.h"
#include "data/tu_dataset.h"

namespace geosft {

// Reads a set by what lies at `source`: the text form of TU Dortmund. Throws DataError when nothing fits, listing what
// was looked for, and when anything is broken.
PackedGraphs open_graph_dataset(const std::filesystem::path& source);

// Labels become categories, attributes values; the label of a graph is its class, or, where it has none, its attributes
// are the targets of a regression.
PackedGraphs packed_graphs(const TuDataset& set);

}  // namespace geosft
