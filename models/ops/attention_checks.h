// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of the attention operators. The checks use only types and shapes, so they also run on meta
// tensors and on symbolic shapes; the values of ptr are checked where they are read.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "geometry/packed.h"
#include "models/ops/attention_inputs.h"

namespace geosft {

// Checks that `tensor` (argument `name`) is defined and has the dtype and the device of `like` (argument `like_name`).
void check_like(const at::Tensor& tensor, const char* name, const at::Tensor& like, const char* like_name = "q");

// Checks that `tensor` has exactly these sizes; `meaning` describes them, such as "[Nk, h]".
void check_sizes(const at::Tensor& tensor, const char* name, at::ArrayRef<c10::SymInt> sizes, const char* meaning);

// Checks that `tensor` is int64 and on the device of `like`, with one dimension.
void check_index(const at::Tensor& tensor, const char* name, const at::Tensor& like);

// Checks q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], h and c >= 1, one floating type (float32, float64, float16 or
// bfloat16).
void check_query_key_value(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

// Also checks leak [Nk, h]; q_ptr and k_ptr both or neither, int64 [B + 1]; eps finite and >= 0.
void check_attention(const AttentionInputs& in);

// Checks the weights of a relative encoding with `channels` channels: w_* [channels, h], b_* [h].
void check_relative_weights(const WeightedInputs& in, const c10::SymInt& channels);

// Checks the arguments of a backward operator: grad and out [Nq, h, cv]; denominator [Nq, h] in the type that kernels
// compute in.
void check_grad_output(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator,
                       const at::Tensor& q, const at::Tensor& v);

}  // namespace geosft
