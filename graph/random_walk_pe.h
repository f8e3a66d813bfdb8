// SPDX-License-Identifier: Apache-2.0
// Random-walk positional encodings of nodes (SFT section 4.4, after Dwivedi et al., ICLR 2022). Operator
// geosft::random_walk_pe.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace geosft {

// Exact return probabilities of a random walk after 1, 2, …, steps steps: [N, steps]; column t - 1 is the diagonal of
// RW^t with RW = A D^-1.
//   rowptr   int64 [N + 1], col int64 [E] in any order within a row: CSR of the graph. A packed batch is one
//            block-diagonal graph. Self-loops count once, duplicate edges as often as they are stored
//   weight   [E] float32 or float64, finite and not negative; default 1. A_ij is the sum of the weights of the edges
//            i -> j, D_i the sum of row i; if D_i = 0, 1 / D_i counts as 0
//   steps    >= 1
// On the CPU, another weight is an error, as is a sum D_i that is, or whose inverse is, beyond the range of its type.
// On a GPU, where the host reads no values, the nodes whose walks it can affect get NaN. The dtype is that of weight,
// float32 without. Not differentiable. The bits do not depend on the number of threads.
//
// Only half the powers are computed: (RW^(a+b))_ii = sum_j (RW^a)_ij (RW^b)_ji. On a symmetric graph the second factor
// follows from the first (D_i (P^b)_ij = D_j (P^b)_ji, P = D^-1 A), so steps / 2 propagations from each node suffice;
// asymmetric graphs need steps / 2 in each direction. Patches of 16 neighbouring nodes in float32, 8 in float64, are
// propagated together over the rows that their walks reach. In large graphs whose walks diverge too quickly for that,
// each node is propagated alone. No N x N matrix: memory is O(N + E), plus O(N) per thread. Errors name the argument.
at::Tensor random_walk_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                          const std::optional<at::Tensor>& weight = std::nullopt);

// Checks dtypes and shapes of the arguments, and steps. Reads no values, so it also runs on meta tensors.
void check_random_walk_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps,
                          const std::optional<at::Tensor>& weight);

}  // namespace geosft
