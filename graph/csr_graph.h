// SPDX-License-Identifier: Apache-2.0
// Graphs in compressed sparse rows (CSR), the form that every operator takes.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <optional>

namespace geosft {

// A directed graph of N nodes and E edges, on the CPU. An undirected graph stores both directions of every edge; a
// self-loop is stored once. Edges are never merged: an edge stored twice counts twice.
//   rowptr     int64 [N + 1]; the edges of node i are rowptr[i] … rowptr[i + 1] - 1
//   col        int64 [E], the target node of each edge, in any order within a row
//   edge_attr  [E, r] of any dtype, or undefined
//   weight     [E] float32 or float64, every entry an edge weight (is_edge_weight); undefined means 1 for every edge
struct CsrGraph {
  at::Tensor rowptr, col, edge_attr, weight;

  int64_t nodes() const { return rowptr.size(0) - 1; }
  int64_t edges() const { return col.size(0); }
};

// Returns whether an edge can have this weight: finite and not negative, as random walks and the Laplacian require.
inline bool is_edge_weight(double weight) {
  return std::isfinite(weight) && weight >= 0;
}

// Checks that every entry of `weight`, on the CPU, is an edge weight. Every function that reads weights calls it.
void check_edge_weights(const at::Tensor& weight);

// Checks rank and dtype of rowptr and col. Reads no values, so it also runs on meta tensors.
void check_csr_shapes(const at::Tensor& rowptr, const at::Tensor& col);

// Checks that rowptr [nodes + 1] is non-decreasing from 0 to the number of edges, and that col [edges] holds nodes.
void check_csr_values(const int64_t* rowptr, int64_t nodes, const int64_t* col, int64_t edges);
// Checks the same for tensors, both on the CPU and contiguous.
void check_csr_values(const at::Tensor& rowptr, const at::Tensor& col);

// Checks all of the above and the optional members. Every function that takes a graph calls it on its argument.
void check_graph(const CsrGraph& graph);

// Returns the graph of a list of edges source[e] -> target[e], int64 [E], among the nodes 0 … nodes - 1. Stable: the
// edges of a node keep the order of the list.
CsrGraph graph_from_edges(const at::Tensor& source, const at::Tensor& target, int64_t nodes,
                          const at::Tensor& edge_attr = {}, const at::Tensor& weight = {});

// Returns the source node of each stored edge, int64 [E].
at::Tensor edge_sources(const CsrGraph& graph);

// Counts the self-loops, and of the other edges those that repeat one with the same source and target.
struct RedundantEdges {
  int64_t self_loops = 0, repeated = 0;
};
RedundantEdges redundant_edges(const CsrGraph& graph);

// Returns the graph with every edge reversed, with its features and weight. Stable.
CsrGraph transposed(const CsrGraph& graph);

// Returns the graph with missing directions added. The m-th edge i -> j is paired with the m-th edge j -> i. An edge
// without a partner gets one with the same features and weight, stored after the existing edges. Self-loops are
// unchanged, and so is a graph that already holds both directions.
CsrGraph symmetrized(const CsrGraph& graph);

// Returns the subgraph induced by the nodes `rows`, int64 [m], distinct: node rows[i] becomes node i. Edges with both
// ends among them remain, in their order.
CsrGraph induced_subgraph(const CsrGraph& graph, const at::Tensor& rows);
// Returns the same with given sources of the edges: edge_sources(graph), which has checked the graph.
CsrGraph induced_subgraph(const CsrGraph& graph, const at::Tensor& rows, const at::Tensor& sources);

// Returns the graph with its nodes renumbered: node order[i] becomes node i. `order` is a permutation, int64 [N].
CsrGraph permuted(const CsrGraph& graph, const at::Tensor& order);

}  // namespace geosft
