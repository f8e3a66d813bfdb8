// SPDX-License-Identifier: Apache-2.0
// Reads and writes a graph dataset in one HDF5 file: for datasets converted from other languages' formats, and for the
// cache.
//
// The file holds these datasets at its root, for B graphs with N nodes and E edges in total. Types are integers of any
// width unless given. A text is a dataset of bytes (uint8, UTF-8).
//   geosft_packed_graphs  [1]: 1, the version of the format
//   task                  text: classification, multi_label, regression, node_classification or node_multi_label
//   output_names          text: one class or target per line
//   ptr                   [B + 1]: graph b owns the nodes ptr[b] … ptr[b + 1] - 1
//   rowptr, col           [N + 1], [E]: CSR; node i has the edges rowptr[i] … rowptr[i + 1] - 1, with targets col;
//                         node indices count through all graphs; undirected edges are stored in both directions
//   target                classification [B], multi_label and regression float [B, targets] (NaN: missing),
//                         node_classification [N] (-1: none), node_multi_label float [N, targets] (NaN: missing)
// and, if the dataset has them,
//   node_categories, edge_categories    [N, columns], [E, columns], each with
//   node_vocabulary, edge_vocabulary    [columns]: number of values of a column, 0 … size - 1
//   node_values, edge_values            float [N, columns], [E, columns]
//   weight                              float [E], used by the encodings; attention uses edge_values, not this
//   coordinates                         float [N, 3]
//   node_split                          [N], for tasks on nodes: 0 train, 1 validation, 2 test, -1 none
//   split_train, split_validation, split_test   graph indices, all three or none
//   smiles                              text: of molecules, one SMILES per graph and line
//   lines                               [graphs]: the line of each SMILES in its file, counted from 1
//   names                                text: one name per graph and line, such as its file
//   remarks                              text: what was read or left out, one sentence per line
//   key                                 text: in cache files, what the contents were made from
#pragma once

#include <filesystem>
#include <string>

#include "data/packed_items.h"

namespace geosft {

// Throws DataError, naming file and dataset, for data that are absent, damaged or inconsistent.
PackedItems read_packed_graphs(const std::filesystem::path& file);

// Reads everything but task, output names, target and splits, which may be absent.
PackedItems read_packed_features(const std::filesystem::path& file);

// Returns the text `key` of such a file; empty if it has none. Throws DataError if it is no such file.
std::string packed_graphs_key(const std::filesystem::path& file);

// Writes atomically. Throws DataError on an error, and the old file remains.
void write_packed_graphs(const std::filesystem::path& file, const PackedItems& packed, const std::string& key = "");

}  // namespace geosft
