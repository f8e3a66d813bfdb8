// SPDX-License-Identifier: Apache-2.0
// Computes the features of whole molecules for a dataset, and stores them in the cache.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/graphs/molecule_vector.h"
#include "data/packed_items.h"

namespace geosft {

// Returns molecule_vector of each SMILES, float32 [B, columns], computed in parallel. A SMILES that RDKit does not
// parse has unknown descriptors (NaN) and fingerprints of 0. `progress` receives the number of molecules done and their
// total, from one thread at a time. The result is stored in `cache` (empty: nowhere) under a name that depends on the
// SMILES, the options and RDKit's version. Throws std::runtime_error in a build without RDKit.
at::Tensor molecule_vectors(const std::vector<std::string>& smiles, const MoleculeVectorOptions& options,
                            const std::filesystem::path& cache = {},
                            const std::function<void(int64_t done, int64_t total)>& progress = {});

// Returns the scaffold split (grouped_split of scaffold_groups) of molecules, with the groups from `cache` in the same
// manner.
DatasetSplit scaffold_split(const std::vector<std::string>& smiles, const std::filesystem::path& cache = {});

}  // namespace geosft
