// SPDX-License-Identifier: Apache-2.0
// Prepares a graph for random walks: P = D^-1 A as adjacency lists, with contiguous rows for each component and patch.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

#include "graph/large_pages.h"
#include "graph/links.h"
#include "graph/node_order.h"

namespace geosft {

// Number of sources whose walks are propagated together: one cache line of values per node.
template <typename T>
constexpr int64_t walk_sources = 64 / sizeof(T);

// The neighbours of each row, as rows within the component.
template <typename T>
struct WalkLists {
  LargeArray<int64_t> begin;
  LargeArray<int32_t> neighbour;
  LargeArray<T> weight;  // empty: all weights are 1
};

template <typename T>
struct WalkGraph {
  NodeOrder order;
  bool symmetric;
  LargeArray<T> inverse_degree;  // 1 / D by row, 0 if D is 0
  WalkLists<T> out;              // links that leave each row: weights of A if symmetric, otherwise of P
  WalkLists<T> in;               // links that reach each row, weights of P; empty if symmetric
  LargeArray<int32_t>
      by_length;  // rows of each component (within it), shorter lists first, so that loop ends are well predicted
};

// Takes the arguments of random_walk_pe and checks their values.
template <typename T>
WalkGraph<T> prepare_walks(const at::Tensor& rowptr, const at::Tensor& col, const std::optional<at::Tensor>& weight);

}  // namespace geosft
