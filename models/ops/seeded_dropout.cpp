// SPDX-License-Identifier: Apache-2.0
#include "models/ops/seeded_dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "geometry/operators.h"
#include "models/ops/dropout_checks.h"
#include "models/ops/dropout_mask.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

constexpr int64_t groups_per_task = 8192;

// Elements [begin, end) one by one, where `first` is the place of element 0.
template <typename T>
void drop_some(const T* x, T* out, int64_t begin, int64_t end, int64_t first, const DropoutScale& scale,
               uint64_t seed) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t place = first + i;
    const uint64_t bits = dropout_bits(seed, static_cast<uint64_t>(place / kDropoutLanes));
    out[i] = dropped(bits, place % kDropoutLanes, scale.threshold) ? T(0) : x[i] * static_cast<T>(scale.kept);
  }
}

template <typename T>
void drop(const T* x, T* out, int64_t count, int64_t first, const DropoutScale& scale, uint64_t seed) {
  // Groups of places that one number decides; the first and the last may lie half outside.
  const int64_t first_group = (first + kDropoutLanes - 1) / kDropoutLanes;
  const int64_t head = std::min(count, first_group * kDropoutLanes - first), groups = (count - head) / kDropoutLanes;
  const T kept = static_cast<T>(scale.kept);
  drop_some(x, out, 0, head, first, scale, seed);
  at::parallel_for(0, groups, groups_per_task, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const uint64_t bits = dropout_bits(seed, static_cast<uint64_t>(first_group + group));
      const int64_t at = head + group * kDropoutLanes;
      for (int64_t lane = 0; lane < kDropoutLanes; ++lane) {
        out[at + lane] = dropped(bits, lane, scale.threshold) ? T(0) : x[at + lane] * kept;
      }
    }
  });
  drop_some(x, out, head + groups * kDropoutLanes, count, first, scale, seed);
}

at::Tensor masked_cpu(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  check_dropout(x, probability, seed, first);
  const at::Tensor input = opmath_contiguous(x), out = at::empty_like(input);
  const DropoutScale scale = dropout_scale(probability);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "seeded_dropout", [&] {
    drop(input.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), input.numel(), first, scale,
         static_cast<uint64_t>(*seed.const_data_ptr<int64_t>()));
  });
  return out.to(x.scalar_type());
}

at::Tensor masked(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  using Signature = at::Tensor(const at::Tensor&, double, const at::Tensor&, int64_t);
  static const auto op = find_operator<Signature>("_seeded_dropout");
  at::AutoDispatchBelowADInplaceOrView below;
  return op.call(x, probability, seed, first);
}

class SeededDropout : public torch::autograd::Function<SeededDropout> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double probability,
                            const at::Tensor& seed, int64_t first) {
    context->save_for_backward({seed});
    context->saved_data["probability"] = probability;
    context->saved_data["first"] = first;
    return masked(x, probability, seed, first);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    // Dropout is linear in x: its gradient is the same mask, and differentiable in turn.
    const at::Tensor grad =
        SeededDropout::apply(grads[0], context->saved_data["probability"].toDouble(), context->get_saved_variables()[0],
                             context->saved_data["first"].toInt());
    return {grad, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor seeded_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  check_dropout(x, probability, seed, first);
  if (probability == 0) return x;
  return SeededDropout::apply(x, probability, seed, first);
}

GEOSFT_OPERATORS(m) {
  m.def("_seeded_dropout(Tensor x, float probability, Tensor seed, int first=0) -> Tensor");
}

GEOSFT_KERNELS(CPU, m) {
  m.impl("_seeded_dropout", masked_cpu);
}

}  // namespace geosft
