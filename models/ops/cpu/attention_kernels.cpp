// SPDX-License-Identifier: Apache-2.0
// Runs the units of work of the attention kernels on ATen's threads.
#include "models/ops/cpu/attention_kernels.h"

#include <cmath>
#include <limits>

#include "models/ops/cpu/dynamic_parallel_for.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/attention_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/attention_backward-inl.h"
#include "models/ops/cpu/attention_forward-inl.h"

GEOSFT_SIMD_BEGIN();

// Sets the leak sum of every head with a NaN among the item's keys or leaks to NaN, so that it reaches every row:
// neither the vector maximum nor its softplus propagates NaN.
template <typename T>
void spread_nan(const AttentionProblem<T>& problem, int64_t item, T* leaks) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  problem.k.visit([&](const auto* keys) {
    for (int64_t j = problem.k_offsets[item]; j < problem.k_offsets[item + 1]; ++j) {
      for (int64_t h = 0; h < problem.heads; ++h) {
        const auto* key = keys + (j * problem.heads + h) * problem.c;
        bool found = std::isnan(problem.leak[j * problem.heads + h]);
        for (int64_t t = 0; t < problem.c; ++t) found |= std::isnan(static_cast<T>(key[t]));
        if (found) leaks[h] = nan;
      }
    }
  });
}

template <typename T>
void forward_any(const AttentionProblem<T>& problem, const MakeBias<T>& make_bias, const RowAccessor<T>& out,
                 T* denominator) {
  std::vector<T> leaks(static_cast<size_t>(problem.items() * problem.heads));
  dynamic_parallel_for(problem.items(), [&] {
    return [&](int64_t b) {
      T* const sums = leaks.data() + b * problem.heads;
      softplus_sums(problem.leak + problem.k_offsets[b] * problem.heads, problem.keys(b), problem.heads, sums);
      spread_nan(problem, b, sums);
    };
  });
  const std::vector<AttentionUnit> units = forward_units(problem.q_offsets, problem.k_offsets, problem.heads);
  dynamic_parallel_for(static_cast<int64_t>(units.size()), [&] {
    return [&, worker = ForwardWorker<T>(problem, make_bias(/*backward=*/false), leaks.data(), out, denominator)](
               int64_t u) mutable { worker.run(units[u]); };
  });
}

template <typename T>
void backward_any(const AttentionProblem<T>& problem, const MakeBias<T>& make_bias, const BackwardPlan& plan,
                  const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  dynamic_parallel_for(plan.part_count(), [&] {
    return [&, worker = BackwardWorker<T>(problem, make_bias(/*backward=*/true), grad_output)](int64_t part) mutable {
      for (int64_t u = plan.parts[part]; u < plan.parts[part + 1]; ++u) {
        const AttentionUnit& unit = plan.units[u];
        worker.run(unit, {to.dq, to.k, to.v, to.delta_sum + u * problem.heads});
      }
    };
  });
}

GEOSFT_SIMD_KERNEL(forward)
GEOSFT_SIMD_KERNEL(backward)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_SIMD_EXPORT(forward)
GEOSFT_SIMD_EXPORT(backward)

}  // namespace

template <typename T>
void attention_forward(const AttentionProblem<T>& problem, const MakeBias<T>& make_bias, const RowAccessor<T>& out,
                       T* denominator) {
  GEOSFT_SIMD_DISPATCH(T, forward)(problem, make_bias, out, denominator);
}

template <typename T>
void attention_backward(const AttentionProblem<T>& problem, const MakeBias<T>& make_bias, const BackwardPlan& plan,
                        const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  GEOSFT_SIMD_DISPATCH(T, backward)(problem, make_bias, plan, grad_output, to);
}

template void attention_forward(const AttentionProblem<float>&, const MakeBias<float>&, const RowAccessor<float>&,
                                float*);
template void attention_forward(const AttentionProblem<double>&, const MakeBias<double>&, const RowAccessor<double>&,
                                double*);
template void attention_backward(const AttentionProblem<float>&, const MakeBias<float>&, const BackwardPlan&,
                                 const AttentionGradOutput<float>&, const CoreGradients<float>&);
template void attention_backward(const AttentionProblem<double>&, const MakeBias<double>&, const BackwardPlan&,
                                 const AttentionGradOutput<double>&, const CoreGradients<double>&);

}  // namespace geosft
#endif
