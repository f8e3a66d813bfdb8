// SPDX-License-Identifier: Apache-2.0
// Places in space for the nodes of a graph that has none.
#pragma once

#include "graph/csr_graph.h"

namespace geosft::view {

// Three eigenvectors of the normalised Laplacian, those of the smallest non-trivial eigenvalues: double [N, 3]. Where a
// graph has fewer, the other axes are 0.
at::Tensor spectral_layout(const CsrGraph& graph);

// Springs along the edges, repulsion between all nodes (Fruchterman and Reingold, 1991), in three dimensions and from
// places drawn by `seed`: double [N, 3]. Takes N x N memory: throws c10::Error for more than 5,000 nodes.
at::Tensor force_directed_layout(const CsrGraph& graph, uint64_t seed, int64_t rounds = 300);

}  // namespace geosft::view
