// SPDX-License-Identifier: Apache-2.0
// Graphs without answers: those that a trained model is asked about.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/packed_graphs.h"

namespace geosft {

struct GivenGraphs {
  PackedGraphs packed;             // without target, output names and split
  std::vector<std::string> names;  // what each graph is called, for people: a SMILES and its name, or nothing
  at::Tensor node_ids;             // int64 [N], the numbers of nodes in a list of edges or a matrix; else undefined
};

// Whether all graphs have the features that those of `schema` have, to a message.
void check_same_features(const GraphSchema& schema, const GraphSchema& found, const std::string& source);

// Reads what lies at `source` with the features of `schema`, that of the set which the model was trained on:
//   *.smi, *.smiles  molecules, by their SMILES (smiles_files.h), also .gz; the warnings name invalid ones, which are
//                    left out, with their lines
//   *.csv            the same, also .gz, where the model is one of molecules by their SMILES
//   *.xyz            a molecule with coordinates, its bonds found as those of QM7 are
//   *.h5, *.hdf5     packed graphs (packed_graphs_file.h); targets are not looked at and may be absent
//   a folder         a set in TU's form, whose graphs need no labels
//   any other file   a graph alone: a list of edges, or Matrix Market (graph_files.h)
//
// Edges of lists get their missing directions, unless `directed`. Throws DataError for what cannot be read, and for
// graphs with other features.
GivenGraphs read_given_graphs(const std::filesystem::path& source, const GraphSchema& schema, bool directed = false);

// The same of SMILES that a person has typed; `source` is what messages call them.
GivenGraphs given_molecules(const std::vector<std::string>& smiles, const GraphSchema& schema,
                            const std::string& source);

}  // namespace geosft
