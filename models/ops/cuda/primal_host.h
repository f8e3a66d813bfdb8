// SPDX-License-Identifier: Apache-2.0
// Computes primal_attention on tensors, for the GPU and its emulation: run(arrays) launches the kernels. The host reads
// nothing from the device: the values of q_ptr and k_ptr are checked only if they are on the CPU, those of a mask
// never. Pairs of rows of different items are ignored.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "geometry/device_offsets.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/cuda/host_tensors.h"
#include "models/ops/cuda/primal_linear_kernel.cuh"
#include "models/ops/primal_attention.h"
#include "models/ops/primal_composition.h"

namespace geosft::cuda {

// Wider heads, and more heads than the maximum grid height, fall back to LibTorch operations.
inline bool has_primal_kernels(const PrimalArguments& a) {
  constexpr int64_t kMaxHeads = 65535;
  return a.q.size(2) <= kMaxWidth && a.v.size(2) <= kMaxWidth && a.q.size(1) <= kMaxHeads;
}

// Throws if the values of q_ptr or k_ptr are wrong, as far as they are on the CPU.
inline void check_visible_offsets(const PrimalArguments& a) {
  const auto on_device = [](const std::optional<at::Tensor>& ptr) { return given(ptr) && !ptr->is_cpu(); };
  if (on_device(a.q_ptr) || on_device(a.k_ptr)) {
    if (!on_device(a.q_ptr)) packed_offsets(a.q_ptr, a.q.size(0), "q_ptr");
    if (!on_device(a.k_ptr)) packed_offsets(a.k_ptr, a.k.size(0), "k_ptr");
    return;
  }
  packed_offset_pair(a.q_ptr, a.q.size(0), "q_ptr", a.k_ptr, a.k.size(0), "k_ptr", a.q.device());
}

struct MaskSizes {
  int64_t queries, keys, heads;  // keys: pooled rows of each head
};

// A mask by queries or by keys; undefined without a mask.
struct MaskTensors {
  at::Tensor rowptr, col;
  int64_t step = 0;  // from head to head; 0 if all heads share the mask

  PrimalMaskRows rows() const {
    if (!rowptr.defined()) return {nullptr, nullptr, 0, 0};
    return {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int64_t>(), col.size(0), step};
  }
};

// The mask as given.
inline MaskTensors query_mask(const at::Tensor& rowptr, const at::Tensor& col, const MaskSizes& sizes) {
  return {rowptr.contiguous(), col.contiguous(), rowptr.size(0) == sizes.queries + 1 ? 0 : sizes.queries};
}

// Lists for each key the queries that attend to it, in ascending order. Entries whose column is not a key are sorted
// behind all keys.
inline MaskTensors key_mask(const MaskTensors& given, const MaskSizes& sizes) {
  if (!given.rowptr.defined()) return {};
  const bool a_head = given.step > 0;
  const int64_t copies = a_head ? sizes.heads : 1, queries = std::max<int64_t>(sizes.queries, 1);
  const at::Tensor& col = given.col;
  const at::Tensor entry = at::arange(col.size(0), col.options());
  const at::Tensor row =
      (at::searchsorted(given.rowptr, entry, /*out_int32=*/false, /*right=*/true) - 1).clamp(0, copies * queries - 1);
  const at::Tensor key =
      at::where((col >= 0).logical_and(col < sizes.keys), row.floor_divide(queries) * sizes.keys + col,
                at::full_like(col, copies * sizes.keys));
  const auto [sorted, order] = key.sort(/*stable=*/true, 0, false);
  const at::Tensor bounds = at::arange(copies * sizes.keys + 1, col.options());
  return {at::searchsorted(sorted, bounds), row.remainder(queries).index_select(0, order), a_head ? sizes.keys : 0};
}

// Pooled keys and values of every head, [heads, rows, …], or k and v unchanged, [rows, heads, …], if no head pools.
struct PooledKeys {
  bool pooled;
  int64_t rows;
  at::Tensor factor;  // int64 [heads]
  at::Tensor ptr;     // int64 [heads, items + 1]; if no head pools, [items + 1] or undefined
  at::Tensor size;    // rows of each item, at least 1, [items, heads, 1]
  at::Tensor k, v;
};

// Holds the arguments, contiguous, on their device.
class PrimalTensors {
 public:
  explicit PrimalTensors(const PrimalArguments& a)
      : arguments(a),
        q(a.q.contiguous()),
        k(a.k.contiguous()),
        v(a.v.contiguous()),
        computed(q.options().dtype(at::toOpMathType(q.scalar_type()))),
        q_ptr(ptr_on_device(a.q_ptr, q.device(), "q_ptr")),
        k_ptr(ptr_on_device(a.k_ptr, q.device(), "k_ptr")),
        items(q_ptr.defined() ? q_ptr.size(0) - 1 : 1),
        heads(q.size(1)) {
    if (given(a.beta)) beta = a.beta->to(computed).expand({heads}).view({1, heads, 1});
    lay_out_keys();
    if (given(a.mask_rowptr)) mask = query_mask(*a.mask_rowptr, *a.mask_col, mask_sizes());
  }

  template <typename T>
  PrimalTokens<T> queries() const {
    return {stored<T>(q), {}, nullptr, nullptr, nullptr, heads, 1, packed(q_ptr, q.size(0)), 0};
  }
  // Returns the keys with the given x [.., c] and y [.., cv].
  template <typename T>
  PrimalTokens<T> keys_of(const at::Tensor& x, const at::Tensor& y) const {
    const PackedRows rows{keys.ptr.defined() ? keys.ptr.const_data_ptr<int64_t>() : nullptr, items, keys.rows};
    return {stored<T>(x),
            stored<T>(y),
            nullptr,
            nullptr,
            nullptr,
            keys.pooled ? 1 : heads,
            keys.pooled ? keys.rows : 1,
            rows,
            keys.pooled ? items + 1 : 0};
  }
  MaskSizes mask_sizes() const { return {q.size(0), keys.rows, heads}; }
  // Keys and values before pooling.
  PackedRows given_keys() const { return packed(k_ptr, k.size(0)); }

  const PrimalArguments& arguments;
  at::Tensor q, k, v;
  at::TensorOptions computed;  // of tensors in the type that kernels compute in
  at::Tensor q_ptr, k_ptr, beta;
  int64_t items, heads;
  PooledKeys keys;
  MaskTensors mask;

 private:
  PackedRows packed(const at::Tensor& ptr, int64_t rows) const {
    return {ptr.defined() ? ptr.const_data_ptr<int64_t>() : nullptr, items, rows};
  }

  void lay_out_keys() {
    const auto index = q.options().dtype(at::kLong);
    const std::vector<int64_t> factors = arguments.pool.has_value() ? arguments.pool->vec() : std::vector<int64_t>();
    keys.pooled = std::any_of(factors.begin(), factors.end(), [](int64_t factor) { return factor > 1; });
    keys.rows = keys.pooled ? 0 : k.size(0);
    keys.factor = at::ones({heads}, index);
    // fill_ instead of a copy of a host array, which the device would wait for.
    for (int64_t head = 0; head < static_cast<int64_t>(factors.size()); ++head) {
      if (factors[head] > 1) keys.factor.narrow(0, head, 1).fill_(factors[head]);
      if (keys.pooled) keys.rows = std::max(keys.rows, std::min(k.size(0), k.size(0) / factors[head] + items));
    }
    const at::Tensor rows = k_ptr.defined() ? k_ptr.diff().clamp_min(0) : at::full({1}, k.size(0), index);
    const at::Tensor factor = keys.factor.unsqueeze(1);
    const at::Tensor groups = rows.floor_divide(factor) + rows.remainder(factor).ne(0);
    keys.size = groups.t().clamp_min(1).to(computed).unsqueeze(-1);
    keys.ptr = keys.pooled ? at::constant_pad_nd(groups.cumsum(1), {1, 0}).contiguous() : k_ptr;
    keys.k = keys.pooled ? at::empty({heads, keys.rows, k.size(2)}, computed) : k;
    keys.v = keys.pooled ? at::empty({heads, keys.rows, v.size(2)}, computed) : v;
  }
};

// Runs one call in numbers of type T.
template <typename T, class Run>
class PrimalCall {
 public:
  PrimalCall(const PrimalTensors& in, const Run& run) : in_(in), run_(run) {
    if (in.keys.pooled) {
      pool(in.k, in.keys.k);
      pool(in.v, in.keys.v);
    }
    queries_ = in.template queries<T>();
    keys_ = in.template keys_of<T>(in.keys.k, in.keys.v);
    if (!in.beta.defined()) return;
    mean_ = item_sums(keys_, in.k.size(2)) / in.keys.size;
    shift_ = (in.beta * mean_).contiguous();
    queries_.shift = shift_.const_data_ptr<T>();
    if (in.arguments.linear()) keys_.shift = queries_.shift;
  }

  void forward(const at::Tensor& out, const at::Tensor& normalizer) const {
    PrimalTask<T> task = task_of(queries_, keys_, in_.mask.rows());
    task.value = out.mutable_data_ptr<T>();
    task.normalizer = normalizer.mutable_data_ptr<T>();
    relate(task);
  }

  // Returns the gradients of q, k, v and, if given, beta; y, further and offset are those of the queries.
  std::vector<at::Tensor> backward(const at::Tensor& y, const at::Tensor& further, const at::Tensor& offset) const {
    PrimalTokens<T> queries = queries_;
    queries.y = stored<T>(y);
    queries.further = further.const_data_ptr<T>();
    if (offset.defined()) queries.offset = offset.const_data_ptr<T>();
    const auto like = [&](const at::Tensor& rows) { return at::empty(rows.sizes(), in_.computed); };
    const at::Tensor q_grad = like(in_.q), k_grad = like(in_.keys.k), v_grad = like(in_.keys.v);
    PrimalTask<T> to_queries = task_of(queries, keys_, in_.mask.rows());
    to_queries.gradient = q_grad.mutable_data_ptr<T>();
    relate(to_queries);
    const MaskTensors by_keys = key_mask(in_.mask, in_.mask_sizes());
    PrimalTask<T> to_keys = task_of(keys_, queries, by_keys.rows());
    to_keys.value = v_grad.mutable_data_ptr<T>();
    to_keys.gradient = k_grad.mutable_data_ptr<T>();
    relate(to_keys);
    return gradients(q_grad, k_grad, v_grad);
  }

 private:
  PrimalTask<T> task_of(const PrimalTokens<T>& row_tokens, const PrimalTokens<T>& column_tokens,
                        const PrimalMaskRows& mask) const {
    const PrimalArguments& a = in_.arguments;
    PrimalTask<T> task{};
    task.row_tokens = row_tokens;
    task.column_tokens = column_tokens;
    task.heads = in_.heads;
    task.c = static_cast<int>(in_.q.size(2));
    task.cv = static_cast<int>(in_.v.size(2));
    task.linear = a.linear();
    task.scale = static_cast<T>(a.linear() ? 1.0 : a.logit_scale());
    task.eps = static_cast<T>(a.eps);
    task.mask = mask;
    return task;
  }

  void relate(PrimalTask<T>& task) const {
    at::Tensor sums;  // freed in stream order after the kernels
    if (task.linear) {
      const int64_t blocks = PrimalTileSumKernel<T>::blocks(task.column_tokens.packed),
                    size = task.c * (int64_t{task.cv} + 1);
      sums = at::empty({blocks + in_.items, in_.heads, size}, in_.computed);
      task.tile_sums = sums.mutable_data_ptr<T>();
      task.item_sums = task.tile_sums + blocks * in_.heads * size;
    }
    run_(task);
  }

  void pool(const at::Tensor& from, const at::Tensor& to) const {
    run_(PrimalPooling<T>{
        {in_.given_keys(), in_.heads, static_cast<int>(from.size(2)), in_.keys.factor.const_data_ptr<int64_t>(),
         in_.template keys_of<T>({}, {}), to.mutable_data_ptr<T>()},
        stored<T>(from)});
  }

  // Distributes `pooled` minus `shift` [items, heads, …], if given, to the rows that were pooled.
  at::Tensor unpooled(const at::Tensor& pooled, const at::Tensor& shift) const {
    if (!in_.keys.pooled && !shift.defined()) return pooled;
    const at::Tensor to = at::empty({in_.k.size(0), in_.heads, pooled.size(2)}, pooled.options());
    PrimalTokens<T> tokens = in_.template keys_of<T>(pooled, {});
    if (shift.defined()) tokens.shift = shift.const_data_ptr<T>();
    run_(PrimalUnpooling<T>{in_.given_keys(), in_.heads, static_cast<int>(pooled.size(2)),
                            in_.keys.factor.const_data_ptr<int64_t>(), tokens, to.mutable_data_ptr<T>()});
    return to;
  }

  at::Tensor item_sums(const PrimalTokens<T>& tokens, int64_t width) const {
    const at::Tensor to = at::empty({in_.items, in_.heads, width}, in_.computed);
    PrimalItemSums<T> sums{tokens, in_.heads, static_cast<int>(width), to.mutable_data_ptr<T>(), nullptr};
    const at::Tensor tile_sums = at::empty({sums.blocks(), in_.heads, width}, in_.computed);
    sums.tile_sums = tile_sums.mutable_data_ptr<T>();
    if (width > 0) run_(sums);
    return to;
  }

  // Propagates the gradient of the recentred rows to the means.
  std::vector<at::Tensor> gradients(const at::Tensor& q_grad, const at::Tensor& k_grad,
                                    const at::Tensor& v_grad) const {
    if (!in_.beta.defined()) return {q_grad, unpooled(k_grad, {}), unpooled(v_grad, {})};
    const int64_t c = in_.q.size(2);
    PrimalTokens<T> queries = queries_;
    queries.x = stored<T>(q_grad);
    at::Tensor shift_grad = item_sums(queries, c);
    if (in_.arguments.linear()) {
      shift_grad = shift_grad + item_sums(in_.template keys_of<T>(k_grad, {}), c);
    }
    const at::Tensor mean_grad = (in_.beta * shift_grad / in_.keys.size).contiguous();
    const at::Tensor beta_grad = -(shift_grad * mean_).sum(at::IntArrayRef({0, 2}));
    return {q_grad, unpooled(k_grad, mean_grad), unpooled(v_grad, {}),
            in_.arguments.beta->dim() == 0 ? beta_grad.sum() : beta_grad};
  }

  const PrimalTensors& in_;
  const Run& run_;
  PrimalTokens<T> queries_, keys_;
  at::Tensor mean_, shift_;
};

template <class Run>
std::tuple<at::Tensor, at::Tensor> primal_forward(const PrimalArguments& a, const Run& run) {
  const PrimalTensors in(a);
  const at::Tensor out = at::empty({in.q.size(0), in.heads, in.v.size(2)}, in.computed);
  const at::Tensor normalizer = at::empty({in.q.size(0), in.heads}, in.computed);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "primal_attention",
                             [&] { PrimalCall<scalar_t, Run>(in, run).forward(out, normalizer); });
  return {out, normalizer};
}

// For softmax the normaliser is the logarithm of the sum of weights and is subtracted from the logits. For linear
// attention it is that sum, and the output gradient is divided by it.
template <class Run>
std::vector<at::Tensor> primal_backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer,
                                        const PrimalArguments& a, const Run& run) {
  a.check_grad_output(grad, out, normalizer);
  const PrimalTensors in(a);
  at::Tensor y = grad.contiguous(), offset;
  if (a.linear()) {
    const double minimum =
        normalizer.scalar_type() == at::kFloat ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
    const at::Tensor share = at::where(normalizer < minimum, at::zeros_like(normalizer), normalizer.reciprocal());
    y = (grad * share.unsqueeze(-1)).contiguous();
  } else {
    offset = normalizer.neg().contiguous();
  }
  const at::Tensor further = (y * out).sum(-1).neg_().contiguous();
  std::vector<at::Tensor> gradients;
  AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "primal_attention",
                             [&] { gradients = PrimalCall<scalar_t, Run>(in, run).backward(y, further, offset); });
  for (at::Tensor& gradient : gradients) gradient = gradient.to(a.q.scalar_type());
  return gradients;
}

template <class Launcher>
std::tuple<at::Tensor, at::Tensor> primal_forward_on(const PrimalArguments& a) {
  check_visible_offsets(a);
  const Launcher launch(a.q.device(), "primal_attention");
  return has_primal_kernels(a) ? primal_forward(a, launch) : composed_primal_forward(a);
}
template <class Launcher>
std::vector<at::Tensor> primal_backward_on(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer,
                                           const PrimalArguments& a) {
  check_visible_offsets(a);
  const Launcher launch(a.q.device(), "primal_attention backward");
  return has_primal_kernels(a) ? primal_backward(grad, out, normalizer, a, launch) : composed_primal_gradients(grad, a);
}

// Registers the operators for a device; Launcher(device, op) is constructed once per call: KernelLauncher, or its
// replacement in tests.
template <class Launcher>
void implement_primal_attention(torch::Library& m) {
  m.impl("_primal_attention_forward", PrimalOperator::forward<primal_forward_on<Launcher>>);
  m.impl("_primal_attention_backward", PrimalOperator::backward<primal_backward_on<Launcher>>);
}

}  // namespace geosft::cuda
