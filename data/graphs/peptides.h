// SPDX-License-Identifier: Apache-2.0
// Reads Peptides-func and Peptides-struct of the Long Range Graph Benchmark (Dwivedi et al., 2022): 15,535 peptides as
// graphs of their heavy atoms, with 10 binary labels (func) or 11 structural properties (struct).
#pragma once

#include <filesystem>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Returns whether `folder` holds one of the tables that `read_peptides` reads.
bool is_peptides(const std::filesystem::path& folder);

// Reads from `folder` the published table, peptide_multi_class_dataset.csv (func), peptide_structure_dataset.csv or
// peptide_structure_normalized_dataset.csv (struct), and the official split, split_train.txt, split_val.txt and
// split_test.txt (one row index of the table per line, from 0), each plain or .gz. The targets of struct are
// standardised to mean 0 and deviation 1 over all rows, as in the benchmark. Rows with an invalid SMILES are left out,
// and `warnings` names them. The result is cached, keyed by the contents of the files and RDKit's version. Throws
// DataError, naming file and line: an absent split, columns or labels that differ from the published ones, items out of
// range; std::runtime_error in a build without RDKit.
PackedItems read_peptides(const std::filesystem::path& folder, const GraphReadOptions& options = {});

}  // namespace geosft
