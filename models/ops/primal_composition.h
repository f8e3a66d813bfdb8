// SPDX-License-Identifier: Apache-2.0
// Composes primal_attention of LibTorch's operations, for devices without kernels for it or for this width.
#pragma once

#include <ATen/ATen.h>

#include <tuple>
#include <vector>

#include "models/ops/primal_attention.h"

namespace geosft {

// Computes primal_attention on any device, differentiable by autograd: one item and one group of heads at a time,
// softmax by scaled_dot_product_attention. Half precision is computed in its own type. Masked attention takes memory
// for c numbers per pair; if heads have their own masks, a pair belongs to one head, and this is repeated for each
// pooling factor. The values of a mask are checked only on the CPU, and pairs of rows of different items are ignored.
at::Tensor composed_primal_attention(const PrimalArguments& a);

// Computes the results of _primal_attention_forward, in the type that kernels compute in; the gradients need no
// normaliser.
std::tuple<at::Tensor, at::Tensor> composed_primal_forward(const PrimalArguments& a);

// Returns the gradients of q, k, v and, if given, beta for an output gradient: runs the forward pass again, followed by
// autograd, even if the caller has excluded autograd.
std::vector<at::Tensor> composed_primal_gradients(const at::Tensor& grad, const PrimalArguments& a);

// Returns the attention weights w[i, j] / sum_j w[i, j]: [Nq, Nk, h], for one item without pooling (pool, q_ptr and
// k_ptr absent). Forms all pairs. v is not read; any tensor of the shape of the keys will do.
at::Tensor composed_primal_weights(const PrimalArguments& a);

}  // namespace geosft
