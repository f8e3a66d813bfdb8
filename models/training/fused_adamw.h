// SPDX-License-Identifier: Apache-2.0
// Implements AdamW for a GPU: clipping, loss scaling and the step itself are enqueued without synchronisation. All
// state is in device memory, so that a step can be captured and replayed.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <vector>

namespace geosft {

struct FusedAdamWOptions {
  double beta1 = 0.9, beta2 = 0.999, weight_decay = 0.0, eps = 1e-8;
  double max_gradient_norm = 0.0;         // 0: no clipping
  bool scale_loss = false;                // for float16, see scaled()
  std::vector<double> rate_factors = {};  // of the learning rate, one per parameter; empty: 1
};

// Groups `items` by the factor of their learning rate (empty: 1 for all); the order within a group is that of `items`.
std::map<double, std::vector<at::Tensor>> by_factor(const std::vector<at::Tensor>& items,
                                                    const std::vector<double>& factors);

class FusedAdamW {
 public:
  // The moments and all tensors below are on the device of the parameters.
  FusedAdamW(std::vector<at::Tensor> parameters, const FusedAdamWOptions& options);

  // Returns `loss` times the factor that avoids underflow of gradients in float16: 2^16 initially, halved after a step
  // with non-finite gradients, doubled after 2,000 successive finite ones. Returns the loss itself without scale_loss.
  at::Tensor scaled(const at::Tensor& loss) const;

  // Applies the gradients of the parameters if they are finite, and clears them. learning_rate: 0-dimensional, float32.
  // Returns the gradient norm before clipping, 0-dimensional.
  at::Tensor step(const at::Tensor& learning_rate);

  // Moments and number of steps per parameter; the loss scale, and the number of steps since its last change.
  struct Moments {
    at::Tensor first, second, steps;
  };
  const std::vector<Moments>& moments() const { return moments_; }
  at::Tensor loss_scale() const { return scale_; }     // float32 [1]; undefined without scale_loss
  at::Tensor scale_growth() const { return growth_; }  // int32 [1]

 private:
  std::vector<at::Tensor> parameters_;
  FusedAdamWOptions options_;
  std::vector<Moments> moments_;
  at::Tensor scale_, growth_;
};

}  // namespace geosft
