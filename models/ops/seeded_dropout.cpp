// SPDX-License-Identifier: Apache-2.0
#include "models/ops/seeded_dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "models/ops/cpu/computable.h"
#include "models/ops/dispatch.h"
#include "models/ops/dropout_mask.h"

namespace geosft {
namespace {

constexpr int64_t groups_per_task = 8192;

template <typename T>
void drop(const T* x, T* out, int64_t count, uint64_t threshold, T scale, uint64_t seed) {
  const int64_t groups = count / kDropoutLanes;
  at::parallel_for(0, groups, groups_per_task, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const uint64_t bits = dropout_bits(seed, static_cast<uint64_t>(group));
      const int64_t first = group * kDropoutLanes;
      for (int64_t lane = 0; lane < kDropoutLanes; ++lane) {
        out[first + lane] = dropped(bits, lane, threshold) ? T(0) : x[first + lane] * scale;
      }
    }
  });
  const uint64_t bits = dropout_bits(seed, static_cast<uint64_t>(groups));
  for (int64_t i = groups * kDropoutLanes; i < count; ++i) {
    out[i] = dropped(bits, i - groups * kDropoutLanes, threshold) ? T(0) : x[i] * scale;
  }
}

at::Tensor masked_cpu(const at::Tensor& x, double probability, int64_t seed) {
  const at::Tensor input = computable(x), out = at::empty_like(input);
  const DropoutScale scale = dropout_scale(probability);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "seeded_dropout", [&] {
    drop(input.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), input.numel(), scale.threshold,
         static_cast<scalar_t>(scale.kept), static_cast<uint64_t>(seed));
  });
  return out.to(x.scalar_type());
}

at::Tensor masked(const at::Tensor& x, double probability, int64_t seed) {
  static const auto op = find_operator<at::Tensor(const at::Tensor&, double, int64_t)>("_seeded_dropout");
  at::AutoDispatchBelowADInplaceOrView below;
  return op.call(x, probability, seed);
}

class SeededDropout : public torch::autograd::Function<SeededDropout> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double probability,
                            int64_t seed) {
    context->saved_data["probability"] = probability;
    context->saved_data["seed"] = seed;
    return masked(x, probability, seed);
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

TORCH_LIBRARY_FRAGMENT(geosft, m) {
  m.def("_seeded_dropout(Tensor x, float probability, int seed) -> Tensor");
}

TORCH_LIBRARY_IMPL(geosft, CPU, m) {
  m.impl("_seeded_dropout", masked_cpu);
}

}  // namespace geosft
