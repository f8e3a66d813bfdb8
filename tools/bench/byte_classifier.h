// SPDX-License-Identifier: Apache-2.0
// Text documents as byte sequences, and a classifier of them.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/modules/embedding.h>

#include <filesystem>

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

struct ByteDocuments {
  at::Tensor bytes;   // int64 [count, n], 0 … 255
  at::Tensor labels;  // int64 [count]
};

// Reads `count` documents of exactly n bytes from lines "label TAB … TAB text" with labels 0 and 1: the texts of each
// label are concatenated and cut, and the labels alternate. Throws DataError naming file and line for an invalid format
// or too little text.
ByteDocuments read_documents(const std::filesystem::path& file, int64_t count, int64_t n);

}  // namespace geosft::bench
