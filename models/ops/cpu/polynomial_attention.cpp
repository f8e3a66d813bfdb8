// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_attention.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <array>
#include <cmath>
#include <limits>

#include "geometry/packed.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/cpu/polynomial_problem.h"
#include "models/ops/cpu/simd.h"
#include "models/ops/opmath.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/polynomial_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "geometry/operators.h"
#include "models/ops/cpu/polynomial_worker-inl.h"

GEOSFT_SIMD_BEGIN();

constexpr int64_t kTargetParts = 32;  // of one item; ragged ones are many units, of about a chunk each

// Calls body(worker, unit) for all units, which come in groups of all heads over the same rows. The rows are cut into
// pieces of `rows`; all heads of a piece run one after the other, since they share its cache lines.
template <typename T, class Body>
void for_units(const PolynomialTask<T>& task, const PolynomialConstants<T>& constants,
               const std::vector<PolynomialUnit>& units, int64_t rows, const Body& body) {
  const int64_t heads = task.heads, groups = static_cast<int64_t>(units.size()) / heads;
  if (groups == 0) return;
  const int64_t parts = std::clamp<int64_t>(kTargetParts / groups, 1, heads);  // of the heads
  at::parallel_for(0, groups * parts, 1, [&](int64_t begin, int64_t end) {
    PolynomialWorker<T> worker(task, constants);
    for (int64_t p = begin; p < end; ++p) {
      const PolynomialUnit* const group = units.data() + p / parts * heads;
      const int64_t first = heads * (p % parts) / parts, last = heads * (p % parts + 1) / parts;
      for (int64_t row = group->begin; row < group->end; row += rows) {
        for (int64_t head = first; head < last; ++head) {
          const PolynomialUnit& unit = group[head];
          body(worker, {unit.pair, row, std::min(row + rows, unit.end), unit.partial});
        }
      }
    }
  });
}

// Combines the sums of the chunks of a pair: into the weighted sum of all, or for each chunk, in the order of the
// reach, into the sum of those before it. Running sums are in double precision: there may be thousands of chunks.
template <typename T>
void join_partials(const PolynomialTask<T>& task, const PolynomialConstants<T>& constants, const PolynomialPair& pair,
                   T* partials, int64_t size) {
  if (pair.partials == 0) return;
  constexpr int64_t piece = 256;  // elements of an accumulator that are added together
  T* const first = partials + pair.first_partial * size;
  for (int64_t from = 0; from < size; from += piece) {
    const int64_t count = std::min(piece, size - from);
    std::array<double, piece> sum{};
    for (int64_t n = 0; n < pair.partials; ++n) {
      T* const partial = first + (task.reach == Reach::after ? pair.partials - 1 - n : n) * size + from;
      for (int64_t i = 0; i < count; ++i) sum[static_cast<size_t>(i)] += static_cast<double>(partial[i]);
      if (task.reach == Reach::all && n + 1 < pair.partials) continue;
      T* const to = task.reach == Reach::all ? first + from : partial;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(sum[static_cast<size_t>(i)]);
    }
  }
  if (task.reach != Reach::all) return;
  weigh(constants.weights.data(), monomial_vectors<T>(task.basis), task.columns(), first, first);
}

template <typename T>
void relate_any(const PolynomialTask<T>& task) {
  const PolynomialPlan plan =
      polynomial_plan(task.query.offsets, task.key.offsets, task.heads, task.cv, task.basis, task.reach);
  const PolynomialConstants<T> constants(task.basis);
  const int64_t size = state_size<T>(task.basis, task.columns());
  const at::Tensor states = at::zeros({plan.partials, size}, c10::CppTypeToScalarType<T>::value);
  T* const partials = states.mutable_data_ptr<T>();
  const auto sum = [&](PolynomialWorker<T>& worker, const PolynomialUnit& unit) {
    worker.add_keys(plan.pairs[unit.pair].head, unit.begin, unit.end, partials + unit.partial * size);
  };
  for_units(task, constants, plan.keys, kPieceRows, sum);
  at::parallel_for(0, static_cast<int64_t>(plan.pairs.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) join_partials(task, constants, plan.pairs[p], partials, size);
  });
  // With Reach::before or after, the state of a unit grows while it is processed, so units are not cut.
  const int64_t rows = task.reach == Reach::all ? kPieceRows : std::numeric_limits<int64_t>::max() / 2;
  for_units(task, constants, plan.queries, rows, [&](PolynomialWorker<T>& worker, const PolynomialUnit& unit) {
    worker.relate(unit, plan.pairs[unit.pair], partials + unit.partial * size);
  });
}

GEOSFT_SIMD_KERNEL(relate)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_SIMD_EXPORT(relate)

// The arguments as the kernels read them. The scale is split between queries and keys, so that the monomials of neither
// grow beyond what their product needs.
struct PolynomialInputs {
  explicit PolynomialInputs(const PolynomialArguments& a)
      : offsets(packed_offset_pair(a.q_ptr, a.q.size(0), "q_ptr", a.k_ptr, a.k.size(0), "k_ptr", a.q.device())),
        q(opmath_contiguous(a.q)),
        k(a.center ? centered_rows(opmath_contiguous(a.k), offsets.second) : opmath_contiguous(a.k)),
        v(opmath_contiguous(a.v)),
        basis(q.size(2), a.degree),
        scale(std::sqrt(std::abs(a.scale))),
        sign(a.scale < 0 ? -1 : 1),
        causal(a.causal) {
    TORCH_CHECK(!causal || offsets.first == offsets.second,
                "causal needs items of as many keys as queries: q_ptr and "
                "k_ptr must be equal");
  }

  // Returns the queries with the columns [y, last] / divisor, which the forward pass does not need.
  template <typename T>
  PolynomialTokens<T> queries(const T* y, const T* last, const T* divisor) const {
    return {q.const_data_ptr<T>(), static_cast<T>(sign * scale), y, last, divisor, offsets.first};
  }
  template <typename T>
  PolynomialTokens<T> keys() const {
    return {k.const_data_ptr<T>(), static_cast<T>(scale), v.const_data_ptr<T>(), nullptr, nullptr, offsets.second};
  }

  OffsetPair offsets;
  at::Tensor q, k, v;
  MonomialBasis basis;
  double scale, sign;
  bool causal;
};

std::tuple<at::Tensor, at::Tensor> forward(const PolynomialArguments& a) {
  const PolynomialInputs inputs(a);
  const int64_t heads = a.q.size(1), cv = a.v.size(2);
  const at::Tensor out = at::empty({a.q.size(0), heads, cv}, inputs.q.options());
  const at::Tensor denominator = at::empty({a.q.size(0), heads}, inputs.q.options());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "polynomial_attention", [&] {
    GEOSFT_SIMD_DISPATCH(scalar_t, relate)
    (PolynomialTask<scalar_t>{inputs.basis, heads, cv, inputs.queries<scalar_t>(nullptr, nullptr, nullptr),
                              inputs.keys<scalar_t>(), a.causal ? Reach::before : Reach::all,
                              out.mutable_data_ptr<scalar_t>(), denominator.mutable_data_ptr<scalar_t>(), nullptr});
  });
  return {out.to(a.q.scalar_type()), denominator};
}

// to[i] = -a[i] . b[i], for rows of `width`.
template <typename T>
void negative_dots(const T* a, const T* b, int64_t rows, int64_t width, T* to) {
  at::parallel_for(0, rows, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T sum = 0;
      for (int64_t t = i * width; t < (i + 1) * width; ++t) sum -= a[t] * b[t];
      to[i] = sum;
    }
  });
}

// dL/d(sum_j A_ij [v_j, 1]) is [grad, -rho] / denominator with rho = grad . out.
std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out,
                                                        const at::Tensor& denominator, const PolynomialArguments& a) {
  check_grad_output(grad, out, denominator, a.q, a.v);
  const PolynomialInputs inputs(a);
  const int64_t heads = a.q.size(1), cv = a.v.size(2);
  const at::Tensor y = opmath_contiguous(grad), results = opmath_contiguous(out), last = at::empty_like(denominator);
  const at::Tensor q_grad = at::empty_like(inputs.q), v_grad = at::empty_like(inputs.v);
  at::Tensor k_grad = at::empty_like(inputs.k);
  AT_DISPATCH_FLOATING_TYPES(inputs.q.scalar_type(), "polynomial_attention", [&] {
    const scalar_t* const grad_output = y.const_data_ptr<scalar_t>();
    negative_dots(grad_output, results.const_data_ptr<scalar_t>(), last.numel(), cv, last.mutable_data_ptr<scalar_t>());
    const auto queries = inputs.queries<scalar_t>(grad_output, last.const_data_ptr<scalar_t>(),
                                                  denominator.const_data_ptr<scalar_t>()),
               keys = inputs.keys<scalar_t>();
    const auto relate = GEOSFT_SIMD_DISPATCH(scalar_t, relate);
    relate({inputs.basis, heads, cv, queries, keys, a.causal ? Reach::before : Reach::all, nullptr, nullptr,
            q_grad.mutable_data_ptr<scalar_t>()});
    relate({inputs.basis, heads, cv, keys, queries, a.causal ? Reach::after : Reach::all,
            v_grad.mutable_data_ptr<scalar_t>(), nullptr, k_grad.mutable_data_ptr<scalar_t>()});
  });
  if (a.center) k_grad = centered_rows(k_grad, inputs.offsets.second);
  return {q_grad.to(a.q.scalar_type()), k_grad.to(a.q.scalar_type()), v_grad.to(a.q.scalar_type())};
}

}  // namespace

GEOSFT_KERNELS(CPU, m) {
  m.impl("_polynomial_attention_forward", PolynomialOperator::forward<forward>);
  m.impl("_polynomial_attention_backward", PolynomialOperator::backward<backward>);
}

}  // namespace geosft
#endif
