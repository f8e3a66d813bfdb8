// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "models/layers/transformer_layer.h"

namespace geosft {

// A stack of layers. With pre-norm a last norm follows, since the residual stream itself is not normalised.
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class EncoderImpl : public torch::nn::Module {
 public:
  // layers >= 1. Throws what the constructor of a layer throws.
  EncoderImpl(const LayerOptions& layer, int64_t layers);

  // x [N, width], of the floating type of the parameters, packed by ptr (int64 [B + 1], or none for one item): [N,
  // width] of the same type. Traces the input of the first layer and the output of each layer, before the last norm,
  // into `context`. Errors (c10::Error) are those of the layers, and name the argument.
  at::Tensor forward(at::Tensor x, const RelativeEncoding& relative, const std::optional<at::Tensor>& ptr,
                     SamplingContext& context);

  torch::nn::ModuleList layers{nullptr};
  torch::nn::LayerNorm norm{nullptr};  // empty with post-norm
};
TORCH_MODULE(Encoder);

}  // namespace geosft
