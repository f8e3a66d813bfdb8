// SPDX-License-Identifier: Apache-2.0
// Reads a CSV table with a column of SMILES and columns of labels as a dataset of molecules.
#pragma once

#include <filesystem>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Returns whether `file` is a CSV table with a column of SMILES: one that the options name, or one that
// find_smiles_column finds in its first rows.
bool is_molecule_table(const std::filesystem::path& file, const GraphReadOptions& options = {});

// Reads molecules with the features of molecule_features.h. Rows with an invalid SMILES are left out, and `warnings`
// lists them; the first warning says which columns were read as what.
//
// Labels and split are those of the other columns, as table_labels.h finds them. The result is cached, keyed by the
// contents of the files and RDKit's version. Throws DataError, naming file and line, as these do, and for an absent
// column of SMILES.
PackedItems read_molecule_table(const std::filesystem::path& file, const GraphReadOptions& options = {});

}  // namespace geosft
