// SPDX-License-Identifier: Apache-2.0
// Reads molecules with coordinates and properties from folders of XYZ files: QM7 (Rupp et al., 2012) and QM9
// (Ramakrishnan et al., 2014).
#pragma once

#include <filesystem>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"

namespace geosft {

// Returns whether `folder` holds hof_qm7.txt or files dsgdb9nsd_*.xyz.
bool is_xyz_molecules(const std::filesystem::path& folder);

// QM7: hof_qm7.txt, a line "file energy …" per molecule (the target, kcal/mol), and the files in xyz/. Official split:
// molecules whose file number is a multiple of 5 are the test set, all others the training set; no validation set. QM9:
// the files dsgdb9nsd_*.xyz, whose comments hold the 15 targets, in the units of the dataset; no split.
//
// Nodes have the atomic number - 1 as category (119 values, as in molecule_features.h) and coordinates. Edges are the
// bonds inferred from the distances (covalent_bonds); the edge value is the bond length divided by the sum of the
// radii. Throws DataError, naming file and line, for broken or absent files and for files of xyz/ that are listed
// twice; unlisted files are left out with a warning. The result is stored in the cache of `options`, keyed by the
// contents of the files.
PackedItems read_xyz_molecules(const std::filesystem::path& folder, const GraphReadOptions& options = {});

// Reads one molecule from an XYZ file, with the same features; no target, no output names. Throws DataError as above.
PackedItems read_xyz_graph(const std::filesystem::path& file);

}  // namespace geosft
