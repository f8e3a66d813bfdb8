// SPDX-License-Identifier: Apache-2.0
// Reads files that hold one graph: edge lists and Matrix Market matrices (Boisvert et al., 1996).
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string_view>

#include "graph/csr_graph.h"

namespace geosft {

struct FileGraph {
  CsrGraph graph;  // weights (float64) if the file has them
  at::Tensor ids;  // int64 [N], the number of each node in the file
};

// Reads lines "source target [weight]", plain or .gz, with numbers separated by blanks, commas or semicolons; comments
// begin with # or %. The nodes are the distinct numbers in ascending order, so that a stray large number costs nothing.
// Missing directions are added unless the graph is `directed`. Throws DataError, naming file and line: negative
// numbers, lines with a different number of columns than the first, weights that no edge can have (is_edge_weight).
FileGraph read_edge_list(const std::filesystem::path& file, bool directed = false);

// Reads a square sparse matrix ("matrix coordinate", pattern, integer or real; general or symmetric), plain or .gz:
// entry (i, j) is an edge from node i to node j. For symmetric matrices, which store one half, the other half is added
// with the same weight. A general matrix is a directed graph. Throws DataError, naming file and line: other kinds
// (skew-symmetric ones have negative weights), entries outside the matrix or in the half that is not stored, weights
// that no edge can have (is_edge_weight), an entry count that differs from the header, more than 2^20 nodes plus 64 per
// entry.
FileGraph read_matrix_market(const std::filesystem::path& file);

// Return whether the first bytes of a text, without a byte-order mark, are the banner of Matrix Market; whether its
// first line that is not a comment is an edge "source target [weight]".
bool begins_matrix_market(std::string_view text);
bool begins_edge_list(std::string_view text);

}  // namespace geosft
