// SPDX-License-Identifier: Apache-2.0
#include "models/layers/forward_trace.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

namespace geosft {
namespace {

constexpr int64_t chunk_elements = 1 << 22;  // elements of the largest tensor of a chunk of queries

void bring_to_host(at::Tensor& values) {
  if (values.defined()) values = values.cpu();
}

void bring_to_host(Pairs& pairs) {
  for (at::Tensor* values : {&pairs.top, &pairs.partner, &pairs.weight, &pairs.ptr}) bring_to_host(*values);
}

}  // namespace

at::Tensor ForwardTrace::in_input_order(const at::Tensor& values) const {
  return order.defined() ? at::empty_like(values).index_copy(0, order, values) : values;
}

at::Tensor ForwardTrace::input_rows(const at::Tensor& rows) const {
  return order.defined() ? order.index_select(0, rows) : rows;
}

ForwardTrace on_host(ForwardTrace trace) {
  for (at::Tensor& tokens : trace.tokens) bring_to_host(tokens);
  for (AttentionTrace& layer : trace.layers) {
    layer.rows = [there = std::move(layer.rows)](int64_t first, int64_t count) { return there(first, count).cpu(); };
    bring_to_host(layer.score);
    bring_to_host(layer.pairs);
  }
  bring_to_host(trace.head.score);
  bring_to_host(trace.head.pairs);
  bring_to_host(trace.order);
  return trace;
}

at::Tensor attention_rows(const AttentionTrace& layer, int64_t first, int64_t count) {
  TORCH_CHECK(layer.items == 1, "attention rows are those of one item, the pass had ", layer.items);
  TORCH_CHECK(first >= 0 && count >= 0 && first + count <= layer.tokens, "queries must be among 0 … ", layer.tokens - 1,
              ", got ", count, " from ", first, " on");
  const at::NoGradGuard guard;
  return layer.rows(first, count);
}

at::Tensor attention_on_tokens(const AttentionTrace& layer, int64_t row) {
  at::Tensor share = attention_rows(layer, row, 1)[0];
  if (!layer.samples()) return share;
  const at::Tensor weight = layer.pairs.weight.detach().unsqueeze(1);
  return at::zeros({layer.tokens, layer.heads}, share.options())
      .index_add(0, layer.pairs.top, share * weight)
      .index_add(0, layer.pairs.partner, share * (1 - weight));
}

at::Tensor head_diversity(const AttentionTrace& layer) {
  const int64_t tokens = layer.tokens, heads = layer.heads;
  if (heads == 1) return at::zeros({tokens});
  const int64_t chunk = std::max<int64_t>(1, chunk_elements / std::max<int64_t>(1, layer.row_size));
  std::vector<at::Tensor> parts;
  for (int64_t first = 0; first < tokens; first += chunk) {
    const at::Tensor p = attention_rows(layer, first, std::min(chunk, tokens - first)).transpose(1, 2).contiguous();
    parts.push_back(at::cdist(p, p, 2.0, /*compute_mode=*/2).sum({1, 2}) / static_cast<double>(heads * (heads - 1)));
  }
  return at::cat(parts);
}

}  // namespace geosft
