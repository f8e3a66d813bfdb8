// SPDX-License-Identifier: Apache-2.0
// Positional encodings of nodes as input features of a model.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "graph/graph_batch.h"

namespace geosft {

enum class NodeEncoding {
  none,
  random_walk,  // return probabilities after 1 … columns steps (random_walk_pe), with the weights of the graph
  laplacian,    // eigenvectors of the smallest non-trivial eigenvalues (undirected_laplacian_pe)
};

struct NodeEncodingOptions {
  NodeEncoding encoding = NodeEncoding::none;
  int64_t columns = 20;  // >= 1
  int64_t walks = 0;     // random_walk: estimate from so many walks a node (random_walk_pe_estimate); 0: exact
  uint64_t seed = 0;     // of the estimate
};

struct EncodedNodes {
  at::Tensor values;          // float32 [N, columns]; undefined for `none`
  at::Tensor standard_error;  // the same shape, of an estimate; undefined of exact values
};

EncodedNodes encoded_nodes(const GraphBatch& batch, const NodeEncodingOptions& options);

}  // namespace geosft
