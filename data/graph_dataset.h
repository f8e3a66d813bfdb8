// SPDX-License-Identifier: Apache-2.0
// Graph datasets from any of the supported sources.
#pragma once

#include <filesystem>
#include <memory>

#include "data/graph_sample.h"
#include "data/packed_graphs.h"
#include "data/tu_dataset.h"

namespace geosft {

// Opens a set by what lies at `source`: the text form of TU Dortmund. Throws DataError when nothing fits, listing what
// was looked for, and when anything is broken.
std::unique_ptr<GraphDataset> open_graph_dataset(const std::filesystem::path& source);

// Labels become categories, attributes values: a graph's label the class, its attributes, where it has no label, the
// targets of a regression.
PackedGraphs packed_graphs(const TuDataset& set);

}  // namespace geosft
