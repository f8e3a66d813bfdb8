// SPDX-License-Identifier: Apache-2.0
// Peptides-func and Peptides-struct of the Long Range Graph Benchmark (Dwivedi et al., 2022): 15,535 peptides as graphs
// of their heavy atoms, 10 functions each of which a peptide may have, or 11 numbers of its shape.
#pragma once

#include <filesystem>

#include "data/graph_cache.h"
#include "data/packed_graphs.h"

namespace geosft {

// Whether `folder` holds one of the tables that `read_peptides` reads.
bool is_peptides(const std::filesystem::path& folder);

// Reads from `folder` the published table, peptide_multi_class_dataset.csv (func), peptide_structure_dataset.csv or
// peptide_structure_normalized_dataset.csv (struct), and the official split, split_train.txt, split_val.txt and
// split_test.txt (a row of the table a line, from 0), each plain or .gz. The targets of struct are brought to mean 0
// and deviation 1 over all rows, as the benchmark does. Rows with an invalid SMILES are left out, and `warnings` names
// them. The result is kept in the cache, which depends on the contents of the files and on RDKit's version. Throws
// DataError, which names file and line: an absent split, columns or labels that are not as published, items out of
// range; std::runtime_error in a build without RDKit.
PackedGraphs read_peptides(const std::filesystem::path& folder, const GraphReadOptions& options = {});

}  // namespace geosft
