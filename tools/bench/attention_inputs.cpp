// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/attention_inputs.h"

#include <ATen/CPUGeneratorImpl.h>

namespace geosft::bench {
namespace {

at::Tensor leaf(const at::Tensor& values) {
  return values.detach().contiguous().requires_grad_(true);
}

}  // namespace

at::Tensor normal(at::IntArrayRef shape, const at::Generator& generator) {
  return at::randn(shape, generator, at::TensorOptions().dtype(at::kFloat));
}

at::Tensor equal_offsets(int64_t items, int64_t count) {
  return at::arange(items + 1, at::TensorOptions().dtype(at::kLong)) * count;
}

PackedInputs random_inputs(const Sizes& sizes, int64_t keys) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const int64_t queries = sizes.batch * sizes.tokens, all_keys = sizes.batch * keys;
  const int64_t heads = sizes.heads, channels = sizes.channels();
  return {leaf(normal({queries, heads, channels}, generator)),
          leaf(normal({all_keys, heads, channels}, generator)),
          leaf(normal({all_keys, heads, channels}, generator)),
          leaf(normal({all_keys, heads}, generator)),
          equal_offsets(sizes.batch, sizes.tokens),
          equal_offsets(sizes.batch, keys),
          normal({queries, heads, channels}, generator)};
}

HeadsFirstInputs heads_first(const PackedInputs& packed, const Sizes& sizes) {
  const auto turned = [&](const at::Tensor& rows) {
    return rows.detach().view({sizes.batch, -1, sizes.heads, sizes.channels()}).transpose(1, 2);
  };
  const at::Tensor leak = packed.leak.detach().view({sizes.batch, -1, sizes.heads}).transpose(1, 2);
  return {leaf(turned(packed.q)), leaf(turned(packed.k)), leaf(turned(packed.v)), leaf(leak),
          turned(packed.grad_output).contiguous()};
}

at::Tensor packed_rows(const at::Tensor& heads_first) {
  return heads_first.dim() < 3 ? heads_first : heads_first.transpose(1, 2).flatten(0, 1);
}

AttentionShape attention_shape(const Sizes& sizes, int64_t keys) {
  const auto items = static_cast<double>(sizes.batch), queries = static_cast<double>(sizes.tokens);
  const auto key_count = static_cast<double>(keys);
  return {items * queries, items * key_count, items * queries * key_count, static_cast<double>(sizes.width)};
}

}  // namespace geosft::bench
