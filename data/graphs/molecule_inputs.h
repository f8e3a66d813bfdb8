// SPDX-License-Identifier: Apache-2.0
// Computes the features and scaffolds of whole molecules, and stores them in the cache.
#pragma once

#include <cstdint>
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
at::Tensor molecule_vectors(const std::vector<std::string>& smiles, const GraphVectorOptions& options,
                            const std::filesystem::path& cache = {},
                            const std::function<void(int64_t done, int64_t total)>& progress = {});

// Returns the scaffold split (grouped_split of scaffold_groups) of molecules, with the groups from `cache` in the same
// manner.
DatasetSplit scaffold_split(const std::vector<std::string>& smiles, const std::filesystem::path& cache = {});

// Returns the canonical SMILES, with stereochemistry, of the ring systems of a molecule and the linkers between them
// (Bemis and Murcko, "The Properties of Known Drugs", 1996); empty for a molecule without rings. Thread-safe. Throws as
// molecule_from_smiles.
std::string murcko_scaffold(const std::string& smiles);

// Numbers the scaffolds of molecules in the order of their first occurrence, in parallel. A SMILES that RDKit does not
// parse has a scaffold of its own.
std::vector<int64_t> scaffold_groups(const std::vector<std::string>& smiles);

// Assigns whole groups to the splits, the largest first and of equal ones the one that begins last, each to the
// training split if it fits in the first `train_fraction` of the items, else to the validation split if it fits in
// train_fraction + validation_fraction, else to the test split: the scaffold split of the Open Graph Benchmark (Hu et
// al., 2020). group: the group of each item. The items of a split are ascending.
DatasetSplit grouped_split(const std::vector<int64_t>& group, double train_fraction = 0.8,
                           double validation_fraction = 0.1);

}  // namespace geosft
