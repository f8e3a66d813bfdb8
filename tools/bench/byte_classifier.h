// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/modules/embedding.h>

#include "models/layers/encoder.h"
#include "models/layers/heads.h"

namespace geosft::bench {

// A two-class classifier of byte sequences: an embedding and sinusoids, an encoder, softmax pooling. Used to compare
// training with polynomial and with exact attention.
class ByteClassifierImpl : public torch::nn::Module {
 public:
  ByteClassifierImpl(const LayerOptions& layer, int64_t layers);

  // bytes int64 [B, n]; prompt [P, width], prepended to each sequence, or undefined. Returns [B, 2].
  at::Tensor forward(const at::Tensor& bytes, const at::Tensor& prompt = {});

  torch::nn::Embedding embed{nullptr};
  Encoder encoder{nullptr};
  SoftmaxPoolHead head{nullptr};
};
TORCH_MODULE(ByteClassifier);

}  // namespace geosft::bench
