// SPDX-License-Identifier: Apache-2.0
// Labels of nodes by Weisfeiler and Lehman's colour refinement, which tell apart what a graph looks like around a node.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "graph/featured_graphs.h"

namespace geosft {

// Returns a label of each node after 0, 1, …, `iterations` refinements, int64 [iterations + 1, N], at least 0
// (Shervashidze et al., "Weisfeiler-Lehman graph kernels", 2011). The first is made of the categories of the node, 0
// columns of them where there are none. Each refinement makes one of the label of the node and those of its neighbours,
// the targets of its edges, with the categories of these edges. The order of edges and nodes does not matter. Numbers
// of features (node_values, edge_values, weights) are not seen.
//
// Labels are hashes of 63 bits. They are the same on every machine, and for graphs of any batch. Two nodes that differ
// have the same one with a probability of about 1e-19. O((N + E) iterations), parallel over nodes. Throws c10::Error
// for a graph off the CPU, `iterations` below 0, and categories of other shapes or types than those of FeaturedGraphs.
at::Tensor weisfeiler_lehman_labels(const FeaturedGraphs& graphs, int64_t iterations);

}  // namespace geosft
