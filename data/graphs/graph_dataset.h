// SPDX-License-Identifier: Apache-2.0
// Opens graph datasets of any supported format.
#pragma once

#include <filesystem>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Reads a set by what lies at `source`: a file of packed graphs (packed_graphs_file.h), or a folder with Peptides-func
// or -struct, the raw form of the Open Graph Benchmark, QM7, QM9, or the text form of TU Dortmund. Throws DataError
// when nothing fits, listing what was looked for, when anything is broken, and for a split that is named where there
// are none with names.
PackedItems open_graph_dataset(const std::filesystem::path& source, const GraphReadOptions& options = {});

}  // namespace geosft
