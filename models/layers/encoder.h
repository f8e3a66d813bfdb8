// SPDX-License-Identifier: Apache-2.0
// Stacks transformer layers into the encoder of a model.
#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include <vector>

#include "models/layers/transformer_layer.h"

namespace geosft {

// How the tokens of several layers become those of the encoder (Xu et al., "Representation learning on graphs with
// jumping knowledge networks", 2018).
enum class JumpingKnowledge {
  none,         // those of the last layer
  concatenate,  // those of all layers, concatenated, then a linear map to the width
  max,          // the maximum over the layers of each channel
  sum,
};

struct EncoderOptions {
  JumpingKnowledge jumping = JumpingKnowledge::none;
  bool virtual_node = false;  // an additional node per item
};

// A stack of layers. With pre-norm a last norm follows, since the residual stream itself is not normalised.
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class EncoderImpl : public torch::nn::Module {
 public:
  // layers >= 1. Throws what the constructor of a layer throws.
  EncoderImpl(const LayerOptions& layer, int64_t layers, const EncoderOptions& options = {});

  // x [N, width], of the floating type of the parameters, packed by ptr (int64 [B + 1], or none for one item): [N,
  // width] of the same type. Traces the input of the first layer and the output of each layer, before the last norm,
  // into `context`. Errors (c10::Error) are those of the layers, and name the argument.
  // Layers with a local branch need `graph`.
  at::Tensor forward(at::Tensor x, const RelativeEncoding& relative, const std::optional<at::Tensor>& ptr,
                     SamplingContext& context, const LocalGraph* graph = nullptr);

  EncoderOptions options;
  torch::nn::ModuleList layers{nullptr};
  VirtualNode virtual_node{nullptr};   // by option
  torch::nn::Linear jump{nullptr};     // for JumpingKnowledge::concatenate
  torch::nn::LayerNorm norm{nullptr};  // empty with post-norm, and with another normalisation

 private:
  at::Tensor joined(const std::vector<at::Tensor>& outputs);

  Normalization last_;
};
TORCH_MODULE(Encoder);

}  // namespace geosft
