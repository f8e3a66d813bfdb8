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

// Use in the namespace of a target: the kernels of an operator whose bias takes `Arrays`, a template over the number
// type. A function with_bias(arrays, f) calls f with the type of the bias, as TypeOf<Bias>.
#ifndef GEOSFT_ATTENTION_KERNELS
#define GEOSFT_ATTENTION_KERNELS(Arrays)                        \
  constexpr auto& forward_float = forward_any<float, Arrays>;   \
  constexpr auto& forward_double = forward_any<double, Arrays>; \
  constexpr auto& backward_float = backward_any<float, Arrays>; \
  constexpr auto& backward_double = backward_any<double, Arrays>;

// The same for an operator with one type of bias.
#define GEOSFT_ATTENTION_BIAS(Arrays, Bias)         \
  template <typename T, class F>                    \
  void with_bias(const Arrays<T>&, const F& body) { \
    body(TypeOf<Bias<T>>());                        \
  }                                                 \
  GEOSFT_ATTENTION_KERNELS(Arrays)

// Use once per source: registers an Operator of attention_arguments.h with these kernels.
#define GEOSFT_REGISTER_ATTENTION(Operator)                     \
  namespace geosft {                                            \
  namespace {                                                   \
  GEOSFT_SIMD_EXPORT(forward)                                   \
  GEOSFT_SIMD_EXPORT(backward)                                  \
  struct Kernels {                                              \
    template <typename T>                                       \
    static auto forward_kernel() {                              \
      return GEOSFT_SIMD_DISPATCH(T, forward);                  \
    }                                                           \
    template <typename T>                                       \
    static auto backward_kernel() {                             \
      return GEOSFT_SIMD_DISPATCH(T, backward);                 \
    }                                                           \
  };                                                            \
  } /* namespace */                                             \
  GEOSFT_KERNELS(CPU, m) {                                      \
    implement_attention<AttentionDevice<Operator, Kernels>>(m); \
  }                                                             \
  } /* namespace geosft */
#endif

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

template <typename T, class Bias, class Arrays>
void run_forward(const AttentionProblem<T>& problem, const Arrays& arrays, const RowAccessor<T>& out, T* denominator) {
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

template <typename T, class Bias, class Arrays>
void run_backward(const AttentionProblem<T>& problem, const Arrays& arrays, const BackwardPlan& plan,
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

template <class Bias>
struct TypeOf {
  using Type = Bias;
};

template <typename T, template <typename> class Arrays>
void forward_any(const AttentionProblem<T>& problem, const Arrays<T>& arrays, const RowAccessor<T>& out,
                 T* denominator) {
  with_bias(arrays,
            [&](auto bias) { run_forward<T, typename decltype(bias)::Type>(problem, arrays, out, denominator); });
}

template <typename T, template <typename> class Arrays>
void backward_any(const AttentionProblem<T>& problem, const Arrays<T>& arrays, const BackwardPlan& plan,
                  const AttentionGradOutput<T>& grad_output, const CoreGradients<T>& to) {
  with_bias(arrays,
            [&](auto bias) { run_backward<T, typename decltype(bias)::Type>(problem, arrays, plan, grad_output, to); });
}

GEOSFT_SIMD_END();
#endif
