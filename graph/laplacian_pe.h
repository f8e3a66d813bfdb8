// SPDX-License-Identifier: Apache-2.0
// Laplacian encodings of nodes (Dwivedi and Bresson, "A generalization of transformer networks to graphs", 2020).
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

#include "graph/graph_batch.h"

namespace geosft {

struct LaplacianEncoding {
  at::Tensor vectors;  // [N, k]
  at::Tensor values;   // [B, k], ascending; 0 where an item has fewer
};

// The eigenvectors to the k smallest non-trivial eigenvalues of each item's normalised Laplacian L = I - D^-1/2 A
// D^-1/2, each of length 1 over its item.
//   rowptr [N + 1], col [E] int64: an undirected graph, both directions stored (see symmetrized); ptr int64 [B + 1]:
//   items of a packed batch; k >= 1; weight [E] float32 or float64, >= 0: gives the dtype, float32 without
// Computed in float64, and the same bits whatever the number of threads.
// * Disconnected items: the trivial eigenvalue 0 has one copy a component, and all of them are left out. The others are
//   the components' own, merged in ascending order (equal ones by the component's lowest node), so a vector is 0
//   outside its component. A node without edges is a component without non-trivial eigenvalues.
// * Items of n nodes and c components have n - c non-trivial vectors: where that is below k, the last columns are 0.
// * Signs: the entry of largest magnitude is positive, of equally large ones that of the lowest node.
// * Repeated eigenvalues: their vectors are a basis that depends on the space and the order of the nodes alone (see
//   canonical_basis): no basis exists that renumbering the nodes would leave.
// Large components go through Lanczos iterations, so eigenvectors are right to about 1e-10 / (gap between eigenvalues).
// Errors name the argument.
LaplacianEncoding laplacian_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t k,
                               const std::optional<at::Tensor>& ptr = std::nullopt,
                               const std::optional<at::Tensor>& weight = std::nullopt);

// The same of graphs that may be directed, in float64 where they have weights of that type: a missing direction is
// added (see symmetrized), and where the two weigh differently both weigh their mean.
LaplacianEncoding undirected_laplacian_pe(const GraphBatch& batch, int64_t k);

// Signs +1 or -1 of so many columns of every item, drawn from the generator: [items, columns] on the CPU.
at::Tensor random_signs(int64_t items, int64_t columns, at::Generator generator, at::ScalarType type = at::kFloat);

// vectors [N, k] with every column of every item times its sign, signs [items, k] of the same type; ptr as above.
at::Tensor with_signs(const at::Tensor& vectors, const at::Tensor& signs,
                      const std::optional<at::Tensor>& ptr = std::nullopt);

// For training: every column of every item times +1 or -1, drawn from the generator. `vectors` [N, k], ptr as above.
at::Tensor with_random_signs(const at::Tensor& vectors, const std::optional<at::Tensor>& ptr, at::Generator generator);

}  // namespace geosft
