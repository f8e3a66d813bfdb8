// SPDX-License-Identifier: Apache-2.0
// Creates random arguments of the attention operators, packed for our operators and heads-first for LibTorch's.
#pragma once

#include <ATen/ATen.h>

#include "tools/bench/benchmark.h"

namespace geosft::bench {

// Packed rows, [B n, h, c] and [B m, h, c] for m keys per item.
struct PackedInputs {
  at::Tensor q, k, v, leak;  // leak [B m, h]
  at::Tensor q_ptr, k_ptr;   // int64 [B + 1]
  at::Tensor grad_output;    // [B n, h, c], gradient of the result
};

// The same values, [B, h, n, c] and [B, h, m, c], contiguous.
struct HeadsFirstInputs {
  at::Tensor q, k, v, leak;  // leak [B, h, m]
  at::Tensor grad_output;
};

// float32; q, k, v and leak require gradients.
PackedInputs random_inputs(const Sizes& sizes, int64_t keys);
HeadsFirstInputs heads_first(const PackedInputs& packed, const Sizes& sizes);

// Converts [B, h, n, c] -> [B n, h, c] and [B, h, n] -> [B n, h]; returns other tensors unchanged.
at::Tensor packed_rows(const at::Tensor& heads_first);

// Returns the offsets 0, count, 2 count, … of equal items.
at::Tensor equal_offsets(int64_t items, int64_t count);

// Samples standard normal numbers, float32, without gradient.
at::Tensor normal(at::IntArrayRef shape, const at::Generator& generator);

AttentionShape attention_shape(const Sizes& sizes, int64_t keys);

}  // namespace geosft::bench
