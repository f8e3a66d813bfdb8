// SPDX-License-Identifier: Apache-2.0
// Reads graphs without labels, for which a trained model makes predictions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

struct UnlabelledGraphs {
  PackedItems packed;              // no target, output names or split
  std::vector<std::string> names;  // display name of each graph: a SMILES and its name, or empty
  at::Tensor node_ids;             // int64 [N], node numbers in an edge list or matrix; otherwise undefined
};

// Throws DataError, naming `source`, unless `found` has the same features as `schema`.
void check_same_features(const ItemSchema& schema, const ItemSchema& found, const std::string& source);

// Reads `source` with the features of `schema`, the schema of the training dataset:
//   *.smi, *.smiles  molecules as SMILES (smiles.h), also .gz; invalid ones are left out, and the warnings list
//                    them with their lines
//   *.csv            the same, also .gz, if the model was trained on SMILES
//   *.xyz            a molecule with coordinates; bonds are computed as for QM7
//   *.h5, *.hdf5     packed graphs (packed_graphs_file.h); targets are ignored and may be absent
//   a folder         a TU dataset, whose graphs need no labels
//   any other file   a single graph: an edge list or a Matrix Market file (graph_files.h)
//
// Missing directions are added to edge lists unless `directed`. Throws DataError if the source cannot be read or has
// other features.
UnlabelledGraphs read_unlabelled_graphs(const std::filesystem::path& source, const ItemSchema& schema,
                                        bool directed = false);

// Converts SMILES typed by a user; `source` names them in messages.
UnlabelledGraphs unlabelled_molecules(const std::vector<std::string>& smiles, const ItemSchema& schema,
                                      const std::string& source);

}  // namespace geosft
