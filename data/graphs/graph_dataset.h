// SPDX-License-Identifier: Apache-2.0
// Opens graph datasets of any supported format.
#pragma once

#include <filesystem>
#include <string>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Detects the format of `source`: a file of packed graphs (packed_graphs_file.h), a CSV table of molecules
// (molecule_table.h), or a folder with Peptides-func or -struct, the raw format of the Open Graph Benchmark, QM7, QM9,
// or the text format of TU Dortmund. Throws DataError for an unknown format, listing the known ones, for broken data,
// and for a named split if the dataset has no named splits.
PackedItems open_graph_dataset(const std::filesystem::path& source, const GraphReadOptions& options = {});

// Returns whether `folder` is a folder in one of these formats; lists them with the files that identify them.
bool is_graph_dataset(const std::filesystem::path& folder);
std::string graph_formats_text();

}  // namespace geosft
