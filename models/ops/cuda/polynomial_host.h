// SPDX-License-Identifier: Apache-2.0
// Computes polynomial_attention on tensors, for the GPU and its emulation: run(PolynomialStageCall<Stage, T>) launches
// the kernels. How a call runs is decided from sizes alone. The host reads nothing from the device: the values of q_ptr
// and k_ptr are checked only if they are on the CPU, see PackedRows.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <cmath>
#include <tuple>

#include "geometry/device_offsets.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/cuda/polynomial_kernels.cuh"
#include "models/ops/monomials.h"
#include "models/ops/opmath.h"
#include "models/ops/polynomial_attention.h"
#include "models/ops/softmax_pool.h"

namespace geosft::cuda {

// The table that the monomials of a call are computed from: see MonomialTable.
struct TableShape {
  int table_degree, entries, factors;  // factors 0: no table fits, use pairs only
};
// Chooses two factors if a table that leaves room for several rows per thread allows it, otherwise as few as possible.
// No table fits for one channel and a degree above 2,096, and for two channels and one above 224; their terms of the
// highest degrees, divided by their factorial, are beyond double precision.
TableShape table_shape(int64_t channels, int64_t degree);

// Items are known if q_ptr and k_ptr are on the CPU or there is one item. Otherwise both offsets are null.
struct PolynomialItems {
  const std::vector<int64_t>* row_offsets;
  const std::vector<int64_t>* column_offsets;
  int64_t items, rows, columns, heads;
};

struct PolynomialPlan {
  bool monomials, pairs;  // whether any item may be computed by monomials, and any row pair by pair
  PolynomialCosts costs;
  ChunkPlaces chunks;
  SumLayout sums;
};
// `tile`: rows per block of MonomialKernel. For each head, states hold at most 2 (c + 3 degree + cv + 1) numbers per
// column, and the state of one chunk.
PolynomialPlan polynomial_plan(const TableShape& shape, int64_t channels, int64_t degree, int64_t cv, Reach reach,
                               int64_t tile, const PolynomialItems& items);

// Returns rows minus the mean of their item; softmax_pool with equal weights computes the mean.
inline at::Tensor centered_rows(const at::Tensor& rows, const at::Tensor& ptr) {
  const at::Tensor flat = rows.flatten(1);
  const at::Tensor none = at::zeros({flat.size(1)}, flat.options());
  const auto offsets = ptr.defined() ? std::optional(ptr) : std::nullopt;
  const at::Tensor mean = softmax_pool(flat, none, offsets);
  if (!ptr.defined()) return (flat - mean).view_as(rows);
  return (flat - mean.index_select(0, item_of_row_on_device(offsets, rows.size(0), rows.device()))).view_as(rows);
}

// Returns the offsets of all items if the host knows them without waiting: there is one item, or they are on the CPU.
inline std::optional<OffsetPair> known_offsets(const PolynomialArguments& a) {
  const auto on_device = [](const std::optional<at::Tensor>& ptr) { return given(ptr) && !ptr->is_cpu(); };
  if (on_device(a.q_ptr) || on_device(a.k_ptr)) return std::nullopt;
  OffsetPair offsets = packed_offset_pair(a.q_ptr, a.q.size(0), "q_ptr", a.k_ptr, a.k.size(0), "k_ptr", a.q.device());
  TORCH_CHECK(!a.causal || offsets.first == offsets.second,
              "causal needs items of as many keys as queries: q_ptr and k_ptr must be equal");
  return offsets;
}

// Holds the arguments, contiguous.
class PolynomialTensors {
 public:
  PolynomialTensors(const PolynomialArguments& a, std::optional<OffsetPair> known)
      : q(a.q.contiguous()),
        v(a.v.contiguous()),
        q_ptr(ptr_on_device(a.q_ptr, q.device(), "q_ptr")),
        k_ptr(ptr_on_device(a.k_ptr, q.device(), "k_ptr")),
        offsets(std::move(known)) {
    constexpr int64_t kMaxHeads = 65535;  // maximum grid height
    TORCH_CHECK(q.size(2) <= kMaxWidth && v.size(2) <= kMaxWidth, "q and v must have at most ", kMaxWidth,
                " channels a head on this device, got shapes ", q.sizes(), " and ", v.sizes());
    TORCH_CHECK(q.size(1) <= kMaxHeads, "q must have at most ", kMaxHeads, " heads on this device, got shape ",
                q.sizes());
    k = a.center ? centered_rows(opmath_contiguous(a.k), k_ptr) : a.k.contiguous();
  }

  // Options of tensors in the type that kernels compute in, on the device of q.
  at::TensorOptions computed() const { return q.options().dtype(at::toOpMathType(q.scalar_type())); }
  PackedRows queries() const { return packed(q_ptr, q.size(0)); }
  PackedRows keys() const { return packed(k_ptr, k.size(0)); }

  at::Tensor q, k, v, q_ptr, k_ptr;
  std::optional<OffsetPair> offsets;

 private:
  static PackedRows packed(const at::Tensor& ptr, int64_t rows) {
    if (!ptr.defined()) return {nullptr, 1, rows};
    return {ptr.const_data_ptr<int64_t>(), ptr.size(0) - 1, rows};
  }
};

// Runs the tasks of one call.
template <typename T, class Run>
class PolynomialCall {
 public:
  PolynomialCall(const PolynomialArguments& a, const PolynomialTensors& in, const Run& run)
      : a_(a), in_(in), run_(run), shape_(table_shape(in.q.size(2), a.degree)) {}

  // The scale is split between queries and keys, so that the monomials of neither grow beyond what their product needs.
  PolynomialTokens<T> queries(const T* further, const Accessor<const T>& y) const {
    const double root = std::sqrt(std::abs(a_.scale));
    return {stored<T>(in_.q), static_cast<T>(a_.scale < 0 ? -root : root), further, y, in_.queries()};
  }
  PolynomialTokens<T> keys() const {
    return {stored<T>(in_.k), static_cast<T>(std::sqrt(std::abs(a_.scale))), nullptr, stored<T>(in_.v), in_.keys()};
  }

  void to_queries(const PolynomialTokens<T>& queries, T* value, T* denominator, T* gradient) {
    const std::vector<int64_t>* row_offsets = in_.offsets ? &in_.offsets->first : nullptr;
    const std::vector<int64_t>* column_offsets = in_.offsets ? &in_.offsets->second : nullptr;
    relate(task_of(queries, keys(), Reach::kBefore, value, denominator, gradient), row_offsets, column_offsets);
  }
  void to_keys(const PolynomialTokens<T>& queries, T* value, T* gradient) {
    const std::vector<int64_t>* row_offsets = in_.offsets ? &in_.offsets->second : nullptr;
    const std::vector<int64_t>* column_offsets = in_.offsets ? &in_.offsets->first : nullptr;
    relate(task_of(keys(), queries, Reach::kAfter, value, nullptr, gradient), row_offsets, column_offsets);
  }

 private:
  PolynomialTask<T> task_of(const PolynomialTokens<T>& row_tokens, const PolynomialTokens<T>& column_tokens,
                            Reach masked, T* value, T* denominator, T* gradient) const {
    PolynomialTask<T> task{};
    task.row_tokens = row_tokens;
    task.column_tokens = column_tokens;
    task.heads = in_.q.size(1);
    task.c = static_cast<int>(in_.q.size(2));
    task.cv = static_cast<int>(in_.v.size(2));
    task.degree = a_.degree;
    task.reach = a_.causal ? masked : Reach::kAll;
    task.value = value;
    task.denominator = denominator;
    task.gradient = gradient;
    return task;
  }

  void relate(PolynomialTask<T> task, const std::vector<int64_t>* row_offsets,
              const std::vector<int64_t>* column_offsets) {
    const PolynomialItems items{row_offsets,
                                column_offsets,
                                task.row_tokens.rows.items,
                                task.row_tokens.rows.rows,
                                task.column_tokens.rows.rows,
                                task.heads};
    const int64_t tile = monomial_tile_rows(task, shape_.entries);
    const PolynomialPlan plan = polynomial_plan(shape_, task.c, a_.degree, task.cv, task.reach, tile, items);
    task.costs = plan.costs;
    task.chunks = plan.chunks;
    task.sums = plan.sums;
    if (plan.monomials) relate_monomials(task);
    if (plan.pairs) run_stage<PairStage>(task);
  }

  template <class Stage>
  void run_stage(const PolynomialTask<T>& task) const {
    run_(PolynomialStageCall<Stage, T>{Stage(), task});
  }

  void relate_monomials(PolynomialTask<T>& task) {
    task.table = table();
    if (!table_made_) run_stage<MonomialTableStage>(task);
    table_made_ = true;
    const int64_t places = task.chunks.count(task.column_tokens.rows);
    const at::Tensor states = at::empty({places, task.heads, task.table.count, task.cv + 1}, in_.computed());
    task.states = states.mutable_data_ptr<T>();
    run_stage<MonomialSumStage>(task);
    run_stage<MonomialStage>(task);
  }

  MonomialTable<T> table() {
    const int64_t count = monomial_count(in_.q.size(2), a_.degree);
    if (!weights_.defined()) {
      weights_ = at::empty({count}, in_.computed());
      numbers_ = at::empty({2 * shape_.entries + count * shape_.factors}, in_.computed().dtype(at::kByte));
    }
    uint8_t* const numbers = numbers_.mutable_data_ptr<uint8_t>();
    return {static_cast<int>(in_.q.size(2)),
            a_.degree,
            count,
            shape_.table_degree,
            shape_.entries,
            shape_.factors,
            numbers,
            numbers + 2 * shape_.entries,
            weights_.mutable_data_ptr<T>()};
  }

  const PolynomialArguments& a_;
  const PolynomialTensors& in_;
  const Run& run_;
  TableShape shape_;
  at::Tensor weights_, numbers_;
  bool table_made_ = false;
};

template <class Run>
std::tuple<at::Tensor, at::Tensor> polynomial_forward(const PolynomialArguments& arguments,
                                                      std::optional<OffsetPair> known, const Run& run) {
  const PolynomialTensors in(arguments, std::move(known));
  const at::Tensor out = at::empty({in.q.size(0), in.q.size(1), in.v.size(2)}, in.computed());
  const at::Tensor denominator = at::empty({in.q.size(0), in.q.size(1)}, in.computed());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "polynomial_attention", [&] {
    PolynomialCall<scalar_t, Run> call(arguments, in, run);
    call.to_queries(call.queries(nullptr, {}), out.mutable_data_ptr<scalar_t>(),
                    denominator.mutable_data_ptr<scalar_t>(), nullptr);
  });
  return {out.to(arguments.q.scalar_type()), denominator};
}

// dL/d(sum_j A_ij [1, v_j]) is [-rho, grad] / denominator with rho = grad . out.
template <class Run>
std::tuple<at::Tensor, at::Tensor, at::Tensor> polynomial_backward(const at::Tensor& grad, const at::Tensor& out,
                                                                   const at::Tensor& denominator,
                                                                   const PolynomialArguments& arguments,
                                                                   std::optional<OffsetPair> known, const Run& run) {
  check_grad_output(grad, out, denominator, arguments.q, arguments.v);
  const PolynomialTensors in(arguments, std::move(known));
  const at::Tensor y = (opmath_contiguous(grad) / denominator.unsqueeze(-1)).contiguous();
  const at::Tensor further = (y * opmath_contiguous(out)).sum(-1).neg_();
  const auto like = [&](const at::Tensor& rows) { return at::empty(rows.sizes(), in.computed()); };
  const at::Tensor q_grad = like(in.q), v_grad = like(in.v);
  at::Tensor k_grad = like(in.k);
  AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "polynomial_attention", [&] {
    PolynomialCall<scalar_t, Run> call(arguments, in, run);
    const auto queries = call.queries(further.const_data_ptr<scalar_t>(), stored<scalar_t>(y));
    call.to_queries(queries, nullptr, nullptr, q_grad.mutable_data_ptr<scalar_t>());
    call.to_keys(queries, v_grad.mutable_data_ptr<scalar_t>(), k_grad.mutable_data_ptr<scalar_t>());
  });
  if (arguments.center) k_grad = centered_rows(k_grad, in.k_ptr);
  const at::ScalarType type = arguments.q.scalar_type();
  return {q_grad.to(type), k_grad.to(type), v_grad.to(type)};
}

template <class Launcher>
std::tuple<at::Tensor, at::Tensor> polynomial_forward_on(const PolynomialArguments& a) {
  const Launcher launch(a.q.device(), "polynomial_attention");
  return polynomial_forward(a, known_offsets(a), launch);
}
template <class Launcher>
std::tuple<at::Tensor, at::Tensor, at::Tensor> polynomial_backward_on(const at::Tensor& grad, const at::Tensor& out,
                                                                      const at::Tensor& denominator,
                                                                      const PolynomialArguments& a) {
  const Launcher launch(a.q.device(), "polynomial_attention backward");
  return polynomial_backward(grad, out, denominator, a, known_offsets(a), launch);
}

// Registers the operators for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_polynomial_attention(torch::Library& m) {
  m.impl("_polynomial_attention_forward", PolynomialOperator::forward<polynomial_forward_on<Launcher>>);
  m.impl("_polynomial_attention_backward", PolynomialOperator::backward<polynomial_backward_on<Launcher>>);
}

}  // namespace geosft::cuda
