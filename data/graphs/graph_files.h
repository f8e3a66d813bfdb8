// SPDX-License-Identifier: Apache-2.0
// Single graphs in files of their own: lists of edges, and matrices in the Matrix Market form (Boisvert et al., 1996).
#pragma once

#include <ATen/ATen.h>

#include <filesystem>

#include "graph/csr_graph.h"

namespace geosft {

struct FileGraph {
  CsrGraph graph;  // weights (float64) where the file has them
  at::Tensor ids;  // int64 [N], the number of each node in the file
};

// A text of lines "source target [weight]", plain or .gz, numbers separated by blanks, commas or semicolons; comments
// begin with # or %. Nodes are those that occur, in ascending order of their numbers, whatever these are, so that a
// stray large number costs nothing. Missing directions are added unless the graph is `directed`. Throws DataError,
// naming file and line: negative numbers, lines of another width than the first, weights that are not finite.
FileGraph read_edge_list(const std::filesystem::path& file, bool directed = false);

// A square sparse matrix ("matrix coordinate", pattern, integer or real; general, symmetric or skew-symmetric), plain
// or .gz: entry (i, j) is an edge from node i to node j. Symmetric ones store one half, and the other is added with the
// same weight, or, skew-symmetric, its negative. A general matrix is a directed graph as it stands. Throws DataError,
// naming file and line: other kinds, entries outside the matrix or in the half that is not stored, fewer or more of
// them than announced, more than 2^20 nodes beyond 64 for every entry.
FileGraph read_matrix_market(const std::filesystem::path& file);

// Whether `file` is a file that is no HDF5, by its name (.h5, .hdf5) and by what it begins with.
bool is_graph_file(const std::filesystem::path& file);

// A Matrix Market file where the name ends in .mtx or .mtx.gz, else a list of edges.
FileGraph read_graph_file(const std::filesystem::path& file, bool directed = false);

}  // namespace geosft
