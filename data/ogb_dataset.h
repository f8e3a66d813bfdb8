// SPDX-License-Identifier: Apache-2.0
// Datasets in the raw form of the Open Graph Benchmark (Hu et al., 2020): ogbg-mol* and others of many graphs, and
// ogbn-* of one graph.
#pragma once

#include <filesystem>

#include "data/graph_cache.h"
#include "data/packed_graphs.h"

namespace geosft {

// Whether `folder` holds raw/graph-label.csv or raw/node-label.csv, plain or .gz.
bool is_ogb_dataset(const std::filesystem::path& folder);

// Reads from raw/ the tables num-node-list, num-edge-list, edge, graph-label or node-label, and, where they are there,
// node-feat and edge-feat, each .csv or .csv.gz without a header; from split/NAME/ the lists train, valid and test.
// Edges get their missing directions, unless `directed`. Features that are all integers are categories, others values;
// molecules' 9 and 3 columns get the vocabularies of molecule_features.h where they fit, other categories one value
// more than the largest. The task is what the labels are: of graphs 0, 1 or missing: multi_label; one column of other
// integers: classification; else regression; of nodes, with the split in `node_split` (one graph), one column of
// integers or missing: node_classification; several columns of 0, 1 or missing: node_multi_label. Further tables
// (node_species, node_year) are left out with a warning. Kept in the cache of `options`, by what raw/ and split/ hold.
// Throws DataError, naming file and line: counts that do not fit the tables, nodes out of range, several splits and
// none named, an absent split, labels of another kind.
PackedGraphs read_ogb_dataset(const std::filesystem::path& folder, const GraphReadOptions& options = {});

}  // namespace geosft
