// SPDX-License-Identifier: Apache-2.0
// Graph datasets in one HDF5 file: for sets that are published in a form of another language's, and for the cache.
//
// The file holds these datasets at its root, B graphs with N nodes and E edges in all, integers of any width unless a
// type is given. A text is a dataset of bytes (uint8, UTF-8).
//   geosft_packed_graphs  [1]: 1, the version of this form
//   task                  text: classification, multi_label, regression, node_classification or node_multi_label
//   output_names          text: a class or a target a line
//   ptr                   [B + 1]: graph b owns the nodes ptr[b] … ptr[b + 1] - 1
//   rowptr, col           [N + 1], [E]: the edges of node i are rowptr[i] … rowptr[i + 1] - 1 and lead to the nodes
//   col;
//                         nodes are counted through all graphs, undirected edges stored in both directions
//   target                classification [B], multi_label and regression float [B, targets] (NaN: missing),
//                         node_classification [N] (-1: none), node_multi_label float [N, targets] (NaN: missing)
// and where the set has them
//   node_categories, edge_categories    [N, columns], [E, columns], each with
//   node_vocabulary, edge_vocabulary    [columns]: values that a column may have, 0 … size - 1
//   node_values, edge_values            float [N, columns], [E, columns]
//   weight                              float [E], of the encodings; attention sees the values of edges, not this
//   coordinates                         float [N, 3]
//   node_split                          [N], of tasks on nodes: 0 train, 1 validation, 2 test, -1 none
//   split_train, split_validation, split_test   graphs, all three or none
//   remarks                              text: what the source lists but the set leaves out, a sentence a line
//   key                                 text: what the contents were made from, in files of the cache
#pragma once

#include <filesystem>
#include <string>

#include "data/packed_items.h"

namespace geosft {

// Throws DataError, naming file and dataset, for whatever is absent, damaged or does not fit the rest.
PackedItems read_packed_graphs(const std::filesystem::path& file);

// The same without task, output names, target and splits, which need not be there.
PackedItems read_packed_features(const std::filesystem::path& file);

// The text `key` of such a file; empty when it has none. DataError when it is no such file.
std::string packed_graphs_key(const std::filesystem::path& file);

// Atomically; on an error, which is a DataError, the old file remains.
void write_packed_graphs(const std::filesystem::path& file, const PackedItems& packed, const std::string& key = "");

}  // namespace geosft
