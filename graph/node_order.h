// SPDX-License-Identifier: Apache-2.0
// Computes connected components, and a node order in which neighbours are close together.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/csr_graph.h"
#include "graph/links.h"

namespace geosft {

// A numbering of the nodes by rows, one component after the other.
struct NodeOrder {
  std::vector<int32_t> node;             // node of each row
  std::vector<int32_t> row;              // row of each node
  std::vector<int64_t> component_begin;  // first row of each component, and N

  int64_t components() const { return static_cast<int64_t>(component_begin.size()) - 1; }
};

// Orders components by their lowest node, and the nodes of each breadth-first from that node. `backward` is the
// transpose of an asymmetric graph, null for a symmetric one; components ignore edge directions.
NodeOrder breadth_first_order(const LinkStructure& forward, const LinkStructure* backward);

// Orders the same components so that each group of `size` consecutive rows is a compact patch of neighbours, so that
// walks starting in it stay close. Patches do not span components.
NodeOrder patched_order(const LinkStructure& forward, const LinkStructure* backward, int64_t size);

// Returns the component of each node, int64 [N], ignoring edge directions; components are numbered by their lowest
// node.
at::Tensor connected_components(const CsrGraph& graph);

}  // namespace geosft
