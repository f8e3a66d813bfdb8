// SPDX-License-Identifier: Apache-2.0
// Reads datasets in the raw format of the Open Graph Benchmark (Hu et al., 2020): many graphs (ogbg-mol* and others) or
// one graph (ogbn-*).
#pragma once

#include <filesystem>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Returns whether `folder` holds raw/graph-label.csv or raw/node-label.csv, plain or .gz.
bool is_ogb_dataset(const std::filesystem::path& folder);

// Reads the tables num-node-list, num-edge-list, edge, graph-label or node-label, and, if present, node-feat and
// edge-feat from raw/, each .csv or .csv.gz without a header, and the lists train, valid and test from split/NAME/.
// Missing edge directions are added unless `directed`. Features become categories if all are integers, otherwise
// values. The 9 and 3 columns of molecules get the vocabularies of molecule_features.h if they fit; other vocabulary
// sizes are the largest category + 1. The labels determine the task. Graph labels: 0, 1 or missing: multi_label; one
// column of other integers: classification; otherwise regression. Node labels (one graph, with the split in
// `node_split`): one column of integers or missing: node_classification; several columns of 0, 1 or missing:
// node_multi_label. mapping/mol.csv, if present, has the SMILES of molecules. Other tables (node_species, node_year)
// are left out with a warning. The result is stored in the cache of `options`, keyed by the contents of raw/, split/
// and mapping/. Throws DataError, naming file and line: counts that do not match the tables, nodes out of range,
// several splits but none named, an absent split, other kinds of labels.
PackedItems read_ogb_dataset(const std::filesystem::path& folder, const GraphReadOptions& options = {});

}  // namespace geosft
