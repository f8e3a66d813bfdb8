// SPDX-License-Identifier: Apache-2.0
// Implements the transformer encoder layer that the SFT layer is compared with.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/transformerlayer.h>
#include <torch/nn/pimpl.h>

namespace geosft::bench {

// Computes Python's nn.TransformerEncoderLayer in training without dropout (post-norm, GELU): a joint projection of q,
// k and v, and fused softmax attention. The C++ module torch::nn::TransformerEncoderLayer materializes its n x n
// weights and is slower; both are measured.
class SdpaEncoderLayerImpl : public torch::nn::Module {
 public:
  SdpaEncoderLayerImpl(int64_t width, int64_t heads, int64_t hidden);
  // x [B, n, width].
  at::Tensor forward(const at::Tensor& x);
  // Copies the weights of the C++ module, whose input is [n, B, width].
  void copy_from(torch::nn::TransformerEncoderLayerImpl& other);

  int64_t heads;
  torch::nn::Linear projections{nullptr}, output{nullptr}, expand{nullptr}, contract{nullptr};
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
};
TORCH_MODULE(SdpaEncoderLayer);

}  // namespace geosft::bench
