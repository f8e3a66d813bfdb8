// SPDX-License-Identifier: Apache-2.0
// Makes Laplacian encodings invariant to the signs of their eigenvectors (Lim et al., "Sign and basis invariant
// networks for spectral graph representation learning", ICLR 2023).
#pragma once

#include "models/layers/heads.h"

namespace geosft {

// rho(phi(v_1) + phi(-v_1), …, phi(v_k) + phi(-v_k)), where v_j are the eigenvectors' entries of a node, phi is a
// network of two linear maps from a number to `hidden` channels, and rho one of `layers` linear maps, both with GELU
// between. Changing the sign of any entries changes nothing, down to the last bit. Weights are initialised from
// LibTorch's default CPU generator; call torch::manual_seed before for reproducible ones.
class SignNetImpl : public torch::nn::Module {
 public:
  // columns, channels, layers and hidden of at least 1.
  SignNetImpl(int64_t columns, int64_t channels, int64_t layers, int64_t hidden = 16);

  // vectors [N, columns] of the type of the parameters: [N, channels].
  at::Tensor forward(const at::Tensor& vectors, SamplingContext& context);

  Mlp phi{nullptr}, rho{nullptr};

 private:
  int64_t columns_;
};
TORCH_MODULE(SignNet);

}  // namespace geosft
