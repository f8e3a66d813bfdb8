// SPDX-License-Identifier: Apache-2.0
// Graphs as compressed sparse rows, the form in which every operator takes them.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace geosft {

// A directed graph of N nodes and E edges, on the CPU. An undirected graph stores both directions of every edge; a
// self-loop is stored once. Edges are never merged: an edge stored twice counts twice.
//   rowptr     int64 [N + 1]; the edges of node i are rowptr[i] … rowptr[i + 1] - 1
//   col        int64 [E], the node that each edge leads to, in any order within a row
//   edge_attr  [E, r] of any dtype, or undefined
//   weight     [E] float32 or float64, or undefined: then every edge weighs 1
struct CsrGraph {
  at::Tensor rowptr, col, edge_attr, weight;

  int64_t nodes() const { return rowptr.size(0) - 1; }
  int64_t edges() const { return col.size(0); }
};

// Rank and dtype of rowptr and col. Reads no values, so it runs on meta tensors too.
void check_csr_shapes(const at::Tensor& rowptr, const at::Tensor& col);

// rowptr [nodes + 1] runs from 0 to the number of edges without decreasing and col [edges] holds nodes.
void check_csr_values(const int64_t* rowptr, int64_t nodes, const int64_t* col, int64_t edges);
// The same of tensors, both on the CPU and contiguous.
void check_csr_values(const at::Tensor& rowptr, const at::Tensor& col);

// All of the above and the optional members. Every function that takes a graph calls it on what it is given.
void check_graph(const CsrGraph& graph);

// The graph of a list of edges source[e] -> target[e], int64 [E], among nodes 0 … nodes - 1. Stable: the edges of one
// node stay in the order of the list.
CsrGraph graph_from_edges(const at::Tensor& source, const at::Tensor& target, int64_t nodes,
                          const at::Tensor& edge_attr = {}, const at::Tensor& weight = {});

// The node where each stored edge begins, int64 [E].
at::Tensor edge_sources(const CsrGraph& graph);

// Every edge turned round, with its features and weight. Stable.
CsrGraph transposed(const CsrGraph& graph);

// The graph with the missing directions added. The m-th edge i -> j is the partner of the m-th edge j -> i; one without
// a partner gets one with the same features and weight, stored after the edges that were there. Self-loops stay as they
// are, and so does a graph that already holds both directions.
CsrGraph symmetrized(const CsrGraph& graph);

// The graph among the nodes `rows`, int64 [m], distinct: node rows[i] becomes node i, and edges whose two ends are
// among them stay, in their order.
CsrGraph induced_subgraph(const CsrGraph& graph, const at::Tensor& rows);
// The same where the node at which each stored edge begins is known: edge_sources(graph), which has checked the graph.
CsrGraph induced_subgraph(const CsrGraph& graph, const at::Tensor& rows, const at::Tensor& sources);

// The same graph with its nodes renumbered: node order[i] becomes node i. `order` is a permutation, int64 [N].
CsrGraph permuted(const CsrGraph& graph, const at::Tensor& order);

}  // namespace geosft
