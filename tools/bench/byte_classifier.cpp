// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/byte_classifier.h"

#include "tools/bench/attention_inputs.h"

namespace geosft::bench {

ByteClassifierImpl::ByteClassifierImpl(const LayerOptions& layer, int64_t layers) {
  const int64_t width = layer.attention.width;
  embed = register_module("embed", torch::nn::Embedding(256, width));
  encoder = register_module("encoder", Encoder(layer, layers));
  head = register_module("head", SoftmaxPoolHead(width, 2));
}

at::Tensor ByteClassifierImpl::forward(const at::Tensor& bytes, const at::Tensor& prompt) {
  TORCH_CHECK(bytes.dim() == 2, "bytes must be [B, n], got shape ", bytes.sizes());
  at::Tensor x = embed->forward(bytes);
  x = x + sinusoids(x.size(1), x.size(2), x.options());
  if (prompt.defined()) x = at::cat({prompt.unsqueeze(0).expand({x.size(0), -1, -1}), x}, 1);
  const at::Tensor ptr = equal_offsets(x.size(0), x.size(1));
  SamplingContext context = SamplingContext::greedy();  // no sampling, no dropout
  return head->forward(encoder->forward(x.flatten(0, 1), RelativeEncoding::none(), ptr, context), ptr);
}

}  // namespace geosft::bench
