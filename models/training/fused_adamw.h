// SPDX-License-Identifier: Apache-2.0
// AdamW for a GPU: clipping, loss scaling and the step itself are enqueued and nothing is waited for. What changes from
// step to step is in memory of the device, so that a step can be captured and replayed.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

struct FusedAdamWOptions {
  double beta1 = 0.9, beta2 = 0.999, weight_decay = 0.0, eps = 1e-8;
  double max_gradient_norm = 0.0;  // 0: no clipping
  bool scale_loss = false;         // for float16, see scaled()
};

class FusedAdamW {
 public:
  // The moments are on the device of the parameters, and so is everything below.
  FusedAdamW(std::vector<at::Tensor> parameters, const FusedAdamWOptions& options);

  // `loss` times the factor that keeps small gradients from vanishing in float16: 2^16 at first, halved after a step
  // whose gradients were not finite, doubled after 2,000 in a row that were. The loss itself without scale_loss.
  at::Tensor scaled(const at::Tensor& loss) const;

  // Applies the gradients that the parameters hold, if they are finite, and clears them. learning_rate: a float32
  // tensor without dimensions, there too. The norm of the gradient before clipping, a tensor without dimensions.
  at::Tensor step(const at::Tensor& learning_rate);

  // Moments and the number of steps taken of parameter i; the factor of the loss and its steps since the last change.
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
