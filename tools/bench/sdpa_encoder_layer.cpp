// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/composites.h"

#include <ATen/core/grad_mode.h>

namespace geosft::bench {
namespace {

torch::nn::LayerNorm layer_norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}));
}

}  // namespace

SdpaEncoderLayerImpl::SdpaEncoderLayerImpl(int64_t width, int64_t head_count, int64_t hidden)
    : heads(head_count),
      projections(register_module("projections", torch::nn::Linear(width, 3 * width))),
      output(register_module("output", torch::nn::Linear(width, width))),
      expand(register_module("expand", torch::nn::Linear(width, hidden))),
      contract(register_module("contract", torch::nn::Linear(hidden, width))),
      norm1(register_module("norm1", layer_norm(width))),
      norm2(register_module("norm2", layer_norm(width))) {}

at::Tensor SdpaEncoderLayerImpl::forward(const at::Tensor& x) {
  const int64_t items = x.size(0), tokens = x.size(1), width = x.size(2);
  const auto parts = projections->forward(x).view({items, tokens, 3, heads, width / heads}).unbind(2);
  const at::Tensor mixed =
      at::scaled_dot_product_attention(parts[0].transpose(1, 2), parts[1].transpose(1, 2), parts[2].transpose(1, 2));
  const at::Tensor y = norm1->forward(x + output->forward(mixed.transpose(1, 2).reshape({items, tokens, width})));
  return norm2->forward(y + contract->forward(at::gelu(expand->forward(y))));
}

void SdpaEncoderLayerImpl::copy_from(torch::nn::TransformerEncoderLayerImpl& other) {
  at::NoGradGuard unrecorded;
  projections->weight.copy_(other.self_attn->in_proj_weight);
  projections->bias.copy_(other.self_attn->in_proj_bias);
  output->weight.copy_(other.self_attn->out_proj->weight);
  output->bias.copy_(other.self_attn->out_proj->bias);
  expand->weight.copy_(other.linear1->weight);
  expand->bias.copy_(other.linear1->bias);
  contract->weight.copy_(other.linear2->weight);
  contract->bias.copy_(other.linear2->bias);
  norm1->weight.copy_(other.norm1->weight);
  norm1->bias.copy_(other.norm1->bias);
  norm2->weight.copy_(other.norm2->weight);
  norm2->bias.copy_(other.norm2->bias);
}

}  // namespace geosft::bench
