// SPDX-License-Identifier: Apache-2.0
// Random-walk encodings of nodes (SFT section 4.4, after Dwivedi et al., ICLR 2022). Operator geosft::random_walk_pe.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace geosft {

// The probabilities of being back after 1, 2, …, steps steps of a random walk, exact: [N, steps], column t - 1 is the
// diagonal of RW^t, RW = A D^-1.
//   rowptr   int64 [N + 1], col int64 [E] in any order within a row: CSR of the graph. A packed batch is one
//            block-diagonal graph. Self-loops count once, duplicate edges as often as they are stored
//   weight   [E] float32 or float64, finite; none: 1 each. A_ij is the sum of the weights of the edges i -> j, D_i the
//            sum of row i; where D_i = 0, 1 / D_i counts as 0
//   steps    >= 1
// The dtype is that of weight, float32 without. Not differentiable. The same bits whatever the number of threads.
//
// Only half the powers are computed: (RW^(a+b))_ii = sum_j (RW^a)_ij (RW^b)_ji, where on a symmetric graph the second
// factor follows from the first (D_i (P^b)_ij = D_j (P^b)_ji, P = D^-1 A), so steps / 2 propagations from every node
// do; unsymmetric graphs take steps / 2 in each direction. Neighbouring nodes, 16 in float32 and 8 in float64, are
// followed at once over the rows that their walks reach; in large graphs where walks part too quickly for that, each is
// followed alone. No N x N matrix: memory is O(N + E), and O(N) more for every thread. Errors name the argument.
at::Tensor random_walk_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                          const std::optional<at::Tensor>& weight = std::nullopt);

// Types and shapes of the arguments, and steps; reads no values, so it runs on meta tensors too.
void check_random_walk_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                          const std::optional<at::Tensor>& weight);

}  // namespace geosft
