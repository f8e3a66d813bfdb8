// SPDX-License-Identifier: Apache-2.0
#include "models/layers/dropout.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

namespace geosft {
namespace {

constexpr int64_t lanes = 4;  // elements that one 64-bit number decides
constexpr int64_t groups_per_task = 8192;

// The finaliser of splitmix64 over a counter: cheap, and mixed well enough that masks show no pattern.
uint64_t mixed(uint64_t seed, uint64_t counter) {
  uint64_t z = seed + (counter + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

template <typename T>
void drop(const T* x, T* out, int64_t count, uint64_t threshold, T scale, uint64_t seed) {
  const auto kept = [&](uint64_t bits, int64_t lane, T value) {
    return ((bits >> (16 * lane)) & 0xFFFF) < threshold ? T(0) : value * scale;
  };
  const int64_t groups = count / lanes;
  at::parallel_for(0, groups, groups_per_task, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const uint64_t bits = mixed(seed, static_cast<uint64_t>(group));
      const int64_t first = group * lanes;
      for (int64_t lane = 0; lane < lanes; ++lane) out[first + lane] = kept(bits, lane, x[first + lane]);
    }
  });
  const uint64_t bits = mixed(seed, static_cast<uint64_t>(groups));
  for (int64_t i = groups * lanes; i < count; ++i) out[i] = kept(bits, i - groups * lanes, x[i]);
}

at::Tensor masked(const at::Tensor& x, double probability, uint64_t seed) {
  const at::Tensor input = x.contiguous();
  const at::Tensor out = at::empty_like(input);
  const uint64_t threshold = static_cast<uint64_t>(probability * 65536.0);
  const double scale = 65536.0 / (65536.0 - static_cast<double>(threshold));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "seeded_dropout", [&] {
    drop(input.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), input.numel(), threshold,
         static_cast<scalar_t>(scale), seed);
  });
  return out;
}

class SeededDropout : public torch::autograd::Function<SeededDropout> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double probability,
                            int64_t seed) {
    context->saved_data["probability"] = probability;
    context->saved_data["seed"] = seed;
    return masked(x, probability, static_cast<uint64_t>(seed));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    // Dropout is linear in x: its gradient is the same mask, and differentiable in turn.
    const at::Tensor grad = SeededDropout::apply(grads[0], context->saved_data["probability"].toDouble(),
                                                 context->saved_data["seed"].toInt());
    return {grad, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor seeded_dropout(const at::Tensor& x, double probability, uint64_t seed) {
  TORCH_CHECK(probability >= 0 && probability < 1, "probability must be in [0, 1), got ", probability);
  if (probability == 0) return x;
  return SeededDropout::apply(x, probability, static_cast<int64_t>(seed));
}

}  // namespace geosft
