// SPDX-License-Identifier: Apache-2.0
// Connected components, and an order of the nodes in which neighbours stand close together.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/csr_graph.h"
#include "graph/links.h"

namespace geosft {

// A numbering of the nodes by rows, component after component.
struct NodeOrder {
  std::vector<int32_t> node;             // of each row
  std::vector<int32_t> row;              // of each node
  std::vector<int64_t> component_begin;  // first row of each component, and N

  int64_t components() const { return static_cast<int64_t>(component_begin.size()) - 1; }
};

// Components in the order of their lowest node, each from that node breadth first. `backward` is the transpose of an
// unsymmetric graph, none of a symmetric one: components are those of the graph without directions.
NodeOrder breadth_first_order(const LinkStructure& forward, const LinkStructure* backward);

// The same components, but every `size` rows in a row are a patch of neighbours, as round as it can be: the walks that
// begin in it stay together. Patches do not span components.
NodeOrder patched_order(const LinkStructure& forward, const LinkStructure* backward, int64_t size);

// The component of every node, int64 [N], directions aside; components are numbered by their lowest node.
at::Tensor connected_components(const CsrGraph& graph);

}  // namespace geosft
