// SPDX-License-Identifier: Apache-2.0
// Features of whole graphs, vectors of a fixed length: descriptors, statistics and count fingerprints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

// Which parts a vector has: first the descriptors of molecules (molecule_vector.h), then the statistics of any graphs
// (graph_statistics), then fingerprint_bits columns for each fingerprint.
struct GraphVectorOptions {
  bool descriptors = false;
  bool statistics = false;
  std::vector<std::string> fingerprints = {};  // some of fingerprint_names()
  int64_t fingerprint_bits = 2048;             // columns of each, at least 1

  bool any() const { return descriptors || statistics || !fingerprints.empty(); }
  // Returns the number of columns of all fingerprints, which come last.
  int64_t count_columns() const { return static_cast<int64_t>(fingerprints.size()) * fingerprint_bits; }
  // Returns the parts that molecules alone have.
  GraphVectorOptions of_molecules() const;
};

// Returns the names of the fingerprints: those of molecules (molecule_vector.h), then, of any graphs, wl0 to wl3, which
// count the labels of nodes after so many refinements (weisfeiler_lehman_labels).
const std::vector<std::string>& fingerprint_names();

// Splits "ecfp4,atom_pair" into names; "none" and an empty text have none. Throws std::invalid_argument, naming the
// word and the known names, for another name and for one that is repeated.
std::vector<std::string> fingerprints_of(const std::string& text);

// Returns the vectors of graphs, float32 [B, columns]: descriptors and statistics, NaN where one is not defined, then
// log(1 + count) of each fingerprint. `cache` and `progress` are those of molecule_vectors. Throws
// std::invalid_argument for descriptors or fingerprints of molecules and graphs without SMILES, and std::runtime_error
// for the same in a build without RDKit.
at::Tensor graph_vectors(const PackedItems& graphs, const GraphVectorOptions& options,
                         const std::filesystem::path& cache = {},
                         const std::function<void(int64_t done, int64_t total)>& progress = {});

// Returns the numbers of nodes and stored edges of each graph (an undirected edge is stored twice), then the mean and
// the standard deviation over its nodes of each feature of nodes, of the mean of these over the neighbours of a node,
// and of the mean of those, float32 [B, columns]. The features are the categories as 0 and 1, of columns with at most
// 128 categories, the values and the degree. A graph without nodes has no means (NaN), and a node without neighbours
// the mean 0.
at::Tensor graph_statistics(const PackedItems& graphs);

}  // namespace geosft
