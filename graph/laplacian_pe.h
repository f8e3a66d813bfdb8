// SPDX-License-Identifier: Apache-2.0
// Laplacian positional encodings of nodes (Dwivedi and Bresson, "A generalization of transformer networks to graphs",
// 2020).
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

// Returns the eigenvectors of the k smallest non-trivial eigenvalues of the normalized Laplacian L = I - D^-1/2 A
// D^-1/2 of each item, each of length 1 over its item.
//   rowptr [N + 1], col [E] int64: an undirected graph, both directions stored (see symmetrized); ptr int64 [B + 1]:
//     items of a packed batch; k >= 1; weight [E] float32 or float64, >= 0: determines the dtype, float32 without
// Computed in float64; the bits do not depend on the number of threads.
// * Disconnected items: the trivial eigenvalue 0 occurs once per component, and all its copies are left out. The other
//   eigenvalues are those of the components, merged in ascending order (equal ones by the lowest node of the
//   component), so a vector is 0 outside its component. A node without edges is a component without non-trivial
//   eigenvalues.
// * An item of n nodes and c components has n - c non-trivial vectors: if that is below k, the last columns are 0.
// * Signs: the entry of largest magnitude is positive; among equally large ones, that of the lowest node.
// * Repeated eigenvalues: their vectors are a basis that depends only on the eigenspace and the order of the nodes (see
//   canonical_basis). No choice of basis is invariant to renumbering the nodes.
// Large components use Lanczos iterations, so eigenvectors are accurate to about 1e-10 / (gap between eigenvalues).
// Errors name the argument.
LaplacianEncoding laplacian_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t k,
                               const std::optional<at::Tensor>& ptr = std::nullopt,
                               const std::optional<at::Tensor>& weight = std::nullopt);

// Returns the same for graphs that may be directed, in float64 if they have float64 weights. A missing direction is
// added (see symmetrized); if the weights of the two directions differ, both get their mean.
LaplacianEncoding undirected_laplacian_pe(const GraphBatch& batch, int64_t k);

// Returns random signs +1 or -1 for each column of each item: [items, columns] on the CPU.
at::Tensor random_signs(int64_t items, int64_t columns, at::Generator generator, at::ScalarType type = at::kFloat);

// Returns vectors [N, k] with each column of each item multiplied by its sign, signs [items, k] of the same dtype; ptr
// as above.
at::Tensor with_signs(const at::Tensor& vectors, const at::Tensor& signs,
                      const std::optional<at::Tensor>& ptr = std::nullopt);

// Multiplies, for training, each column of each item by a random sign. `vectors` [N, k], ptr as above.
at::Tensor with_random_signs(const at::Tensor& vectors, const std::optional<at::Tensor>& ptr, at::Generator generator);

}  // namespace geosft
