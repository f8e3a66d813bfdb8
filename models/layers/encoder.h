// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "models/layers/transformer_layer.h"

namespace geosft {

// A stack of layers; with pre-norm one more norm after the last of them, since the residual stream itself is never
// normalised there.
class EncoderImpl : public torch::nn::Module {
 public:
  // layers >= 1; what a layer refuses is refused here.
  EncoderImpl(const LayerOptions& layer, int64_t layers);

  // x [N, width], of the floating type of the parameters, packed by ptr (int64 [B + 1], or none for one item): [N,
  // width] of the same type. Traces into `context` what enters the first layer and what leaves each, before the last
  // norm. Errors (c10::Error) are those of the layers, and name what does not fit.
  at::Tensor forward(at::Tensor x, const Relative& relative, const std::optional<at::Tensor>& ptr,
                     SamplingContext& context);

  torch::nn::ModuleList layers{nullptr};
  torch::nn::LayerNorm norm{nullptr};  // empty with post-norm
};
TORCH_MODULE(Encoder);

}  // namespace geosft
