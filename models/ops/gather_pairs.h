// SPDX-License-Identifier: Apache-2.0
// Gathers the sampled tokens of pairs of rows. Operator geosft::gather_pairs.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// The sampled tokens (SFT section 4.2): weight[j] x[top[j]] + (1 - weight[j]) x[partner[j]].
//   x [N, ...] floating; top, partner int64 [K], rows of x; weight [K] floating
//   result [K, ...], of the wider of the two types
// Differentiable in x and weight. The gradient of a row that is sampled more than once is summed in a fixed order: the
// same bits every time, on a GPU too, unlike with LibTorch's own index operators. Errors name the
// argument. On a GPU the host does not wait to see top and partner: an index out of range counts as the nearest row,
// and gives wrong rows.
at::Tensor gather_pairs(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                        const at::Tensor& weight);

// For the kernels and the autograd function.

// Checks what needs no values of top and partner; used by every backend.
void check_gather_pairs(const at::Tensor& x, const at::Tensor& top, const at::Tensor& partner,
                        const at::Tensor& weight);

}  // namespace geosft
