// SPDX-License-Identifier: Apache-2.0
// Computes 3D layouts for graphs without coordinates.
#pragma once

#include "graph/csr_graph.h"

namespace geosft::view {

// Spectral layout: the eigenvectors of the three smallest non-trivial eigenvalues of the normalized Laplacian, double
// [N, 3]. If there are fewer, the remaining axes are 0.
at::Tensor spectral_layout(const CsrGraph& graph);

// Force-directed layout in three dimensions (Fruchterman and Reingold, 1991): attraction along edges and repulsion
// between all nodes, from random positions determined by `seed`. Double [N, 3]. Needs O(N^2) memory: throws c10::Error
// for more than 5,000 nodes.
at::Tensor force_directed_layout(const CsrGraph& graph, uint64_t seed, int64_t rounds = 300);

}  // namespace geosft::view
