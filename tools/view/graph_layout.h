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

// Pivot multidimensional scaling (Brandes and Pich, 2006): the first three principal axes of the squared distances to
// `pivots` nodes, each of which is as far as possible from those before it. Double [N, 3], with a mean edge length
// of 1. Without randomness; O(pivots * (N + E)).
at::Tensor pivot_layout(const CsrGraph& graph, int64_t pivots = 50);

// Layout of large graphs: pivot_layout, then `rounds` of forces along edges and between all nodes, the latter by an
// octree (Barnes and Hut, 1986). O(N log N) per round. Double [N, 3]; equal on every call, whatever the threads.
at::Tensor large_layout(const CsrGraph& graph, uint64_t seed, int64_t rounds = 40);

}  // namespace geosft::view
