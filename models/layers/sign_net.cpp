// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sign_net.h"

namespace geosft {

SignNetImpl::SignNetImpl(int64_t columns, int64_t channels, int64_t layers, int64_t hidden) : columns_(columns) {
  TORCH_CHECK(columns >= 1, "columns must be at least 1, got ", columns);
  TORCH_CHECK(channels >= 1, "channels must be at least 1, got ", channels);
  TORCH_CHECK(hidden >= 1, "hidden must be at least 1, got ", hidden);
  phi = register_module("phi", Mlp(1, hidden, hidden, 2));
  rho = register_module("rho", Mlp(columns * hidden, 2 * channels, channels, layers));
}

at::Tensor SignNetImpl::forward(const at::Tensor& vectors, SamplingContext& context) {
  TORCH_CHECK(vectors.dim() == 2 && vectors.size(1) == columns_, "vectors must be [N, ", columns_, "], got ",
              vectors.sizes());
  const at::Tensor entries = vectors.reshape({-1, 1});
  // Absolute values are used so that both signs add the same two numbers in the same order.
  const at::Tensor length = entries.abs();
  const at::Tensor even = phi->forward(length, context) + phi->forward(-length, context);
  return rho->forward(even.view({vectors.size(0), even.size(1) * columns_}), context);
}

}  // namespace geosft
