// SPDX-License-Identifier: Apache-2.0
// primal_attention composed of LibTorch's operations, for devices that have no kernel of it, or none of such a width.
#pragma once

#include <ATen/ATen.h>

#include <tuple>
#include <vector>

#include "models/ops/primal_attention.h"

namespace geosft {

// The result of primal_attention on any device, which autograd may follow: an item and a group of heads at a time,
// softmax by scaled_dot_product_attention. Half precision is computed in its own type. Masked attention takes memory
// for c numbers a pair, which is one of any head where heads have masks of their own, as often as factors of pool
// differ; the values of a mask are checked on the CPU alone, and pairs that are not of one item count for nothing.
at::Tensor composed_primal_attention(const PrimalArguments& a);

// The same as _primal_attention_forward has it, in the type that kernels compute in; gradients need no normaliser.
std::tuple<at::Tensor, at::Tensor> composed_primal_forward(const PrimalArguments& a);

// Its gradients for an output gradient, of q, k, v and beta where it is given: the forward pass again, followed by
// autograd, also where the caller has excluded it.
std::vector<at::Tensor> composed_primal_gradients(const at::Tensor& grad, const PrimalArguments& a);

// What it gives to each value, w[i, j] / sum_j w[i, j]: [Nq, Nk, h], of one item and without pooling (pool, q_ptr and
// k_ptr none). Forms all pairs. Values are not looked at; any tensor of the shape of keys will do for them.
at::Tensor composed_primal_weights(const PrimalArguments& a);

}  // namespace geosft
