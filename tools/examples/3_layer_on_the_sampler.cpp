// SPDX-License-Identifier: Apache-2.0
// A layer of your own on the learned sample: every token gets the mean of a few sampled tokens, and learns which.
#include <torch/nn/modules/linear.h>

#include <cstdio>

#include "models/layers/sampler.h"

class SampledMeanImpl : public torch::nn::Module {
 public:
  SampledMeanImpl(int64_t width, int64_t num_samples)
      : sampler(register_module("sampler", geosft::Sampler(width, geosft::SamplerOptions{.num_samples = num_samples}))),
        mix(register_module("mix", torch::nn::Linear(2 * width, width))) {}

  // x [n, width], one item: [n, width].
  at::Tensor forward(const at::Tensor& x, geosft::SamplingContext& context) {
    const geosft::Pairs pairs = sampler->forward(x, std::nullopt, context);
    const at::Tensor mean = pairs.sample(x).mean(0, true).expand_as(x);
    return at::relu(mix->forward(at::cat({x, mean}, 1)));
  }

  geosft::Sampler sampler;
  torch::nn::Linear mix;
};
TORCH_MODULE(SampledMean);

int main() {
  SampledMean layer(8, 4);
  geosft::SamplingContext context = geosft::SamplingContext::seeded();
  const at::Tensor x = at::randn({100, 8});
  layer->forward(x, context).square().sum().backward();
  const double gradient = layer->sampler->projection->weight.grad().abs().sum().item<double>();
  std::printf("gradient of the sampler: %g\n", gradient);
  return gradient > 0 ? 0 : 1;
}
