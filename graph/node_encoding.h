// SPDX-License-Identifier: Apache-2.0
// Encodings of nodes as features for a model.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "graph/graph_batch.h"

namespace geosft {

enum class NodeEncoding {
  none,
  random_walk,  // return probabilities after 1 … columns steps (random_walk_pe), with the weights of the graph
  laplacian,    // eigenvectors of the smallest non-trivial eigenvalues (laplacian_pe) of the graph made undirected
};

// float32 [N, columns], columns >= 1; an undefined tensor for `none`.
at::Tensor encoded_nodes(const GraphBatch& batch, NodeEncoding encoding, int64_t columns);

}  // namespace geosft
