// SPDX-License-Identifier: Apache-2.0
// Calls the library's operator: register tiles inside blocks of 128 queries and 32 keys (models/ops/cpu).
#include <ATen/core/grad_mode.h>

#include "models/ops/maxout_attention.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/ladder/ladder.h"

namespace geosft::bench {
namespace {

// from_blob needs a mutable pointer; the operator does not write to its inputs.
at::Tensor view(const float* data, at::IntArrayRef shape) {
  return at::from_blob(const_cast<float*>(data), shape, at::TensorOptions().dtype(at::kFloat));
}

}  // namespace

void variant_6_operator(const LadderProblem& p) {
  at::NoGradGuard unrecorded;
  const int64_t rows = p.items * p.queries, key_rows = p.items * p.keys;
  const at::Tensor out =
      maxout_attention(view(p.q, {rows, p.heads, p.c}), view(p.k, {key_rows, p.heads, p.c}),
                       view(p.v, {key_rows, p.heads, p.c}), view(p.leak, {key_rows, p.heads}), std::nullopt,
                       std::nullopt, equal_offsets(p.items, p.queries), equal_offsets(p.items, p.keys), p.eps);
  std::copy_n(out.const_data_ptr<float>(), out.numel(), p.out);
}

}  // namespace geosft::bench
