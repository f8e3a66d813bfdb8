// SPDX-License-Identifier: Apache-2.0
// Reads graphs without labels, for which a trained model makes predictions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/graphs/graph_formats.h"
#include "data/packed_items.h"

namespace geosft {

// Throws DataError, naming `source`, unless `found` has the same features as `schema`.
void check_same_features(const ItemSchema& schema, const ItemSchema& found, const std::string& source);

// Reads `source` with the features of `schema`, the schema of the training dataset:
//   a file    a format of graph_formats.h: invalid SMILES are left out, and the warnings list them with their lines.
//             The bonds of a molecule with coordinates are computed as for QM7. Targets of packed graphs are ignored
//             and may be absent. The nodes of an edge list or a matrix have no features
//   a folder  a TU dataset, whose graphs need no labels
//
// The option `directed` applies to edge lists, `coalesce` to TU datasets, `smiles_column` to CSV tables and
// `chiral_tags` to SMILES. Throws DataError if the source cannot be read, is in an unknown format, or has other
// features.
UnlabelledGraphs read_unlabelled_graphs(const std::filesystem::path& source, const ItemSchema& schema,
                                        const GraphReadOptions& options = {});

// Converts SMILES typed by a user; `source` names them in messages.
UnlabelledGraphs unlabelled_molecules(const std::vector<std::string>& smiles, const ItemSchema& schema,
                                      const std::string& source, const GraphReadOptions& options = {});

}  // namespace geosft
