// SPDX-License-Identifier: Apache-2.0
// Molecules with coordinates and measured or computed properties: QM7 (Rupp et al., 2012) and QM9 (Ramakrishnan et al.,
// 2014) as folders of XYZ files.
#pragma once

#include <filesystem>

#include "data/graph_cache.h"
#include "data/packed_graphs.h"

namespace geosft {

// Whether `folder` holds hof_qm7.txt or files dsgdb9nsd_*.xyz.
bool is_xyz_molecules(const std::filesystem::path& folder);

// QM7: hof_qm7.txt, a line "file energy …" for every molecule (the target, kcal/mol), and the files in xyz/. Official
// split: the molecules whose file number is a multiple of 5 are the test set, the others for training, none for
// validation. QM9: the files dsgdb9nsd_*.xyz, whose comments hold the 15 targets, in the units of the set; no split.
//
// Nodes have the atomic number - 1 as category (119 values, as molecule_features.h) and coordinates. Edges are the
// bonds that the distances show (covalent_bonds); their value is how far a bond is stretched, length over the sum of
// the radii. Throws DataError, naming file and line, for broken or absent files, and files of xyz/ that are listed
// twice; those that are not listed are left out, with a warning. Kept in the cache of `options`, by what the files
// hold.
PackedGraphs read_xyz_molecules(const std::filesystem::path& folder, const GraphReadOptions& options = {});

// One molecule in an XYZ file of its own, with the same features; no target, no output names. Throws DataError as
// above.
PackedGraphs read_xyz_graph(const std::filesystem::path& file);

}  // namespace geosft
