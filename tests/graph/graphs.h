// SPDX-License-Identifier: Apache-2.0
// Small graphs, and slow references on dense matrices.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/csr_graph.h"
#include "tests/support.h"

namespace geosft::test {

// The graph of a list of directed edges.
inline CsrGraph graph_of(int64_t nodes, const std::vector<std::pair<int64_t, int64_t>>& edges) {
  std::vector<int64_t> source, target;
  for (const auto& [from, to] : edges) {
    source.push_back(from);
    target.push_back(to);
  }
  return graph_from_edges(at::tensor(source, at::kLong), at::tensor(target, at::kLong), nodes);
}

inline CsrGraph path(int64_t nodes) {
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t i = 0; i + 1 < nodes; ++i) edges.emplace_back(i, i + 1);
  return symmetrized(graph_of(nodes, edges));
}

inline CsrGraph cycle(int64_t nodes) {
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t i = 0; i < nodes; ++i) edges.emplace_back(i, (i + 1) % nodes);
  return symmetrized(graph_of(nodes, edges));
}

// side x side nodes, each linked to its neighbours on a torus.
inline CsrGraph torus(int64_t side) {
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t i = 0; i < side * side; ++i) {
    const int64_t row = i / side, column = i % side;
    edges.emplace_back(i, row * side + (column + 1) % side);
    edges.emplace_back(i, (row + 1) % side * side + column);
  }
  return symmetrized(graph_of(side * side, edges));
}

// Random edges, self-loops and duplicates among them; some nodes may have none.
inline CsrGraph random_graph(int64_t nodes, int64_t edges, uint64_t seed, bool weighted = false) {
  const at::Tensor ends = at::randint(0, nodes, {2, edges}, generator(seed), at::kLong);
  const at::TensorOptions options(at::kDouble);
  return graph_from_edges(ends[0], ends[1], nodes, at::rand({edges, 2}, generator(seed + 1), options),
                          weighted ? at::rand({edges}, generator(seed + 2), options) + 0.1 : at::Tensor());
}

// The same, undirected: both directions of an edge have one weight.
inline CsrGraph undirected_graph(int64_t nodes, int64_t edges, uint64_t seed, bool weighted = false) {
  const CsrGraph directed = random_graph(nodes, edges, seed, weighted);
  const at::Tensor source = edge_sources(directed);
  return symmetrized(graph_from_edges(at::minimum(source, directed.col), at::maximum(source, directed.col), nodes,
                                      directed.edge_attr, directed.weight));
}

// A_ij, float64: the sum of the weights of the edges i -> j.
inline at::Tensor dense_adjacency(const CsrGraph& graph) {
  const at::Tensor weight =
      graph.weight.defined() ? graph.weight.to(at::kDouble) : at::ones({graph.edges()}, at::kDouble);
  const at::Tensor flat = edge_sources(graph) * graph.nodes() + graph.col;
  return at::zeros({graph.nodes() * graph.nodes()}, at::kDouble)
      .index_add(0, flat, weight)
      .view({graph.nodes(), graph.nodes()});
}

// The diagonals of RW, RW^2, … by multiplying matrices.
inline at::Tensor dense_random_walk_pe(const CsrGraph& graph, int64_t steps) {
  const at::Tensor adjacency = dense_adjacency(graph), degree = adjacency.sum(1);
  const at::Tensor inverse = at::where(degree == 0, at::zeros_like(degree), 1 / degree);
  const at::Tensor walk = inverse.unsqueeze(1) * adjacency;
  std::vector<at::Tensor> columns;
  at::Tensor power = walk;
  for (int64_t t = 0; t < steps; ++t, power = power.matmul(walk)) columns.push_back(power.diagonal().clone());
  return at::stack(columns, 1);
}

// I - D^-1/2 A D^-1/2, with a zero row for a node without edges.
inline at::Tensor dense_laplacian(const CsrGraph& graph) {
  const at::Tensor adjacency = dense_adjacency(graph), degree = adjacency.sum(1);
  const at::Tensor root = at::where(degree == 0, at::zeros_like(degree), degree.rsqrt());
  return at::diag((degree != 0).to(at::kDouble)) - root.unsqueeze(1) * adjacency * root;
}

inline void require_same_graph(const CsrGraph& actual, const CsrGraph& expected) {
  require_equal(actual.rowptr, expected.rowptr, "rowptr");
  require_equal(actual.col, expected.col, "col");
  for (const auto& [mine, other] :
       {std::pair(actual.edge_attr, expected.edge_attr), std::pair(actual.weight, expected.weight)}) {
    if (mine.defined() || other.defined()) require_equal(mine, other, "edge_attr or weight");
  }
}

}  // namespace geosft::test
