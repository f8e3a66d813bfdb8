// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_gradients.h"

namespace geosft {

// dleak_j = -sigmoid(leak_j) sum_i delta_i: the sum is one number per item and head.
template <typename T>
std::array<at::Tensor, 4> CoreGradients<T>::finish(const AttentionProblem<T>& problem, const BackwardPlan& plan) {
  at::Tensor per_item = at::zeros({problem.items(), problem.heads}, deltas.options());
  T* sums = per_item.mutable_data_ptr<T>();
  for (size_t u = 0; u < plan.units.size(); ++u) {
    for (int64_t h = 0; h < problem.heads; ++h) {
      sums[plan.units[u].item * problem.heads + h] += delta_sum[static_cast<int64_t>(u) * problem.heads + h];
    }
  }
  at::Tensor leak = at::empty({problem.k_offsets.back(), problem.heads}, deltas.options());
  T* to = leak.mutable_data_ptr<T>();
  for (int64_t b = 0; b < problem.items(); ++b) {
    for (int64_t j = problem.k_offsets[b]; j < problem.k_offsets[b + 1]; ++j) {
      for (int64_t h = 0; h < problem.heads; ++h) {
        const T sigmoid = T(1) / (T(1) + std::exp(-problem.leak[j * problem.heads + h]));
        to[j * problem.heads + h] = sigmoid * sums[b * problem.heads + h];
      }
    }
  }
  return {q, k.finish(), v.finish(), leak};
}

template struct CoreGradients<float>;
template struct CoreGradients<double>;

}  // namespace geosft
