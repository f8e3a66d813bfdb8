// SPDX-License-Identifier: Apache-2.0
// Runs the units of work of an attention operator on ATen's threads. Compiled once per vector target.
#if defined(GEOSFT_ATTENTION_DRIVER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ATTENTION_DRIVER_INL_H_
#undef GEOSFT_ATTENTION_DRIVER_INL_H_
#else
#define GEOSFT_ATTENTION_DRIVER_INL_H_
#endif

#include <cmath>
#include <limits>

#include "models/ops/cpu/attention_backward-inl.h"
#include "models/ops/cpu/attention_forward-inl.h"
#include "models/ops/cpu/dynamic_parallel_for.h"

// Use once per source: exports the kernels of an operator, which the templates forward_any and backward_any of each
// target compute, for implement_attention.
#ifndef GEOSFT_EXPORT_ATTENTION_KERNELS
#define GEOSFT_EXPORT_ATTENTION_KERNELS         \
  GEOSFT_SIMD_EXPORT(forward)                   \
  GEOSFT_SIMD_EXPORT(backward)                  \
  struct Kernels {                              \
    template <typename T>                       \
    static auto forward_kernel() {              \
      return GEOSFT_SIMD_DISPATCH(T, forward);  \
    }                                           \
    template <typename T>                       \
    static auto backward_kernel() {             \
      return GEOSFT_SIMD_DISPATCH(T, backward); \
    }                                           \
  };
#endif

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

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

template <typename T, class Bias>
void run_forward(const AttentionProblem<T>& problem, const typename Bias::Arrays& arrays, const RowAccessor<T>& out,
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
    return [&, worker = ForwardWorker<T, Bias>(problem, arrays, leaks.data(), out, denominator)](int64_t u) mutable {
      worker.run(units[u]);
    };
  });
}

template <typename T, class Bias>
void run_backward(const AttentionProblem<T>& problem, const typename Bias::Arrays& arrays, const BackwardPlan& plan,
                  const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  dynamic_parallel_for(plan.part_count(), [&] {
    return [&, worker = BackwardWorker<T, Bias>(problem, arrays, grad_output)](int64_t part) mutable {
      for (int64_t u = plan.parts[part]; u < plan.parts[part + 1]; ++u) {
        const AttentionUnit& unit = plan.units[u];
        worker.run(unit, {to.dq, to.k, to.v, to.delta_sum + u * problem.heads});
      }
    };
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
