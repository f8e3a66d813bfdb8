// SPDX-License-Identifier: Apache-2.0
// Computes primal_attention on the CPU, one group of heads with the same pooling factor at a time. LibTorch's flash
// attention computes large items, adjacent items of equal size in one call; kernels for one item and head compute small
// items, masks and linear attention.
#include "models/ops/primal_attention.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include "geometry/operators.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/cpu/primal_units.h"
#include "models/ops/opmath.h"
#include "models/ops/primal_heads.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

// Multiply-adds per call above which LibTorch's operator is faster than our kernel.
constexpr double kFlashWork = 1 << 20;

std::optional<at::Tensor> opmath_if_given(const Optional& tensor) {
  return given(tensor) ? std::optional(opmath_contiguous(*tensor)) : std::nullopt;
}

// Adjacent items of equal sizes.
struct Run {
  int64_t items, queries, keys;  // queries and keys of one item
  int64_t first_query, first_key;
  int64_t all_queries() const { return items * queries; }
  int64_t all_keys() const { return items * keys; }
};

struct ItemHead {
  int64_t item, head;  // index of the head in its group
};

// All arguments as the kernels read them.
struct PrimalCall {
  explicit PrimalCall(const PrimalArguments& a)
      : q(opmath_contiguous(a.q)),
        k(opmath_contiguous(a.k)),
        v(opmath_contiguous(a.v)),
        beta(opmath_if_given(a.beta)),
        arguments{q, k, v, beta, a.pool, a.kernel, a.eps, a.q_ptr, a.k_ptr, a.mask_rowptr, a.mask_col, a.scale},
        packed(packed_offset_pair(a.q_ptr, q.size(0), "q_ptr", a.k_ptr, k.size(0), "k_ptr", q.device())),
        groups(head_groups(a.pool, q.size(1))),
        mask(arguments, packed, groups),
        numbers{q.size(2), v.size(2), arguments.logit_scale(), a.eps} {}

  at::Tensor q, k, v;
  Optional beta;
  PrimalArguments arguments;
  OffsetPair packed;
  std::vector<HeadGroup> groups;
  PrimalMask mask;
  PrimalNumbers numbers;
};

// One group of heads and how its items are computed.
struct GroupPlan {
  GroupPlan(const PrimalCall& primal_call, const HeadGroup& head_group)
      : call(primal_call),
        group(head_group),
        heads(call.arguments, call.packed, group),
        head_count(static_cast<int64_t>(group.heads.size())) {
    const auto &q = heads.offsets.first, &k = heads.offsets.second;
    for (size_t b = 0; b + 1 < q.size();) {
      Run run{0, q[b + 1] - q[b], k[b + 1] - k[b], q[b], k[b]};
      const size_t first = b;
      while (b + 1 < q.size() && q[b + 1] - q[b] == run.queries && k[b + 1] - k[b] == run.keys) ++b;
      run.items = static_cast<int64_t>(b - first);
      if (flash(run)) {
        runs.push_back(run);
        continue;
      }
      for (size_t item = first; item < b; ++item) {
        for (int64_t head = 0; head < head_count; ++head) units.push_back({static_cast<int64_t>(item), head});
      }
    }
  }

  bool flash(const Run& run) const {
    const auto pairs = static_cast<double>(run.all_queries()) * static_cast<double>(run.keys * head_count);
    return !heads.linear && !call.mask.given() &&
           pairs * static_cast<double>(call.numbers.c + call.numbers.cv) >= kFlashWork;
  }

  template <typename T>
  PrimalUnit<T> unit(const ItemHead& at) const {
    const auto &q = heads.offsets.first, &k = heads.offsets.second;
    const int64_t q0 = q[at.item], k0 = k[at.item];
    PrimalUnit<T> unit{rows_of<T>(heads.q, at.head, q0), rows_of<T>(heads.k, at.head, k0),
                       rows_of<T>(heads.v, at.head, k0), q[at.item + 1] - q0, k[at.item + 1] - k0};
    if (call.mask.given()) {
      unit.rowptr = call.mask.rows(group.heads[at.head]) + q0;
      unit.col = call.mask.columns();
      unit.first_key = k0;
    }
    return unit;
  }

  template <class Each>
  void for_units(const Each& each) const {
    at::parallel_for(0, static_cast<int64_t>(units.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; ++u) each(units[u]);
    });
  }

  // Returns whether the result of a run is the whole result.
  bool everything(const Run& run) const {
    return call.groups.size() == 1 && run.all_queries() == call.q.size(0) && run.all_keys() == heads.k.size(0);
  }

  const PrimalCall& call;
  const HeadGroup& group;
  PrimalHeads heads;
  int64_t head_count;
  std::vector<Run> runs;
  std::vector<ItemHead> units;
};

// Returns packed rows [first, first + items * rows) as [items, heads, rows, width], padded to `width` channels.
// rows_first is the inverse.
at::Tensor heads_first(const at::Tensor& x, int64_t first, int64_t items, int64_t rows, int64_t width) {
  const at::Tensor part = x.narrow(0, first, items * rows);
  const at::Tensor wide = part.size(2) == width ? part : at::constant_pad_nd(part, {0, width - part.size(2)});
  return wide.view({items, rows, wide.size(1), width}).transpose(1, 2);
}
at::Tensor rows_first(const at::Tensor& x, int64_t width) {
  return x.narrow(-1, 0, width).transpose(1, 2).flatten(0, 1);
}

struct FlashInputs {
  FlashInputs(const GroupPlan& plan, const Run& run)
      : width(std::max(plan.call.numbers.c, plan.call.numbers.cv)),
        q(heads_first(plan.heads.q, run.first_query, run.items, run.queries, width)),
        k(heads_first(plan.heads.k, run.first_key, run.items, run.keys, width)),
        v(heads_first(plan.heads.v, run.first_key, run.items, run.keys, width)) {}
  int64_t width;
  at::Tensor q, k, v;
};

struct AttentionRows {
  at::Tensor out, normalizer;
};

AttentionRows flash_forward(const GroupPlan& plan, const Run& run) {
  const FlashInputs in(plan, run);
  const PrimalNumbers& n = plan.call.numbers;
  const auto [out, log_sum] =
      at::_scaled_dot_product_flash_attention_for_cpu(in.q, in.k, in.v, 0.0, false, std::nullopt, n.scale);
  return {rows_first(out, n.cv), log_sum.transpose(1, 2).flatten(0, 1)};
}

void run_units(const GroupPlan& plan, const AttentionRows& to) {
  const PrimalNumbers& n = plan.call.numbers;
  AT_DISPATCH_FLOATING_TYPES(to.out.scalar_type(), "primal_attention", [&] {
    const auto kernels = primal_unit_kernels<scalar_t>(plan.heads.linear);
    plan.for_units([&](const ItemHead& at) {
      const int64_t head = plan.group.heads[at.head], first = plan.heads.offsets.first[at.item];
      const PrimalResult<scalar_t> result{mutable_rows_of<scalar_t>(to.out, head, first),
                                          mutable_rows_of<scalar_t>(to.normalizer, head, first)};
      kernels.forward(n, plan.unit<scalar_t>(at), result);
    });
  });
}

std::tuple<at::Tensor, at::Tensor> forward(const PrimalArguments& a) {
  const PrimalCall call(a);
  AttentionRows to;
  for (const HeadGroup& group : call.groups) {
    const GroupPlan plan(call, group);
    if (plan.runs.size() == 1 && plan.everything(plan.runs[0])) {
      to = flash_forward(plan, plan.runs[0]);
      break;
    }
    if (!to.out.defined()) {
      to.out = at::empty({a.q.size(0), a.q.size(1), a.v.size(2)}, call.q.options());
      to.normalizer = at::empty({a.q.size(0), a.q.size(1)}, call.q.options());
    }
    run_units(plan, to);
    for (const Run& run : plan.runs) {
      const AttentionRows part = flash_forward(plan, run);
      group.put(part.out, to.out.narrow(0, run.first_query, run.all_queries()));
      group.put(part.normalizer, to.normalizer.narrow(0, run.first_query, run.all_queries()));
    }
  }
  return {to.out.contiguous(), to.normalizer.contiguous()};
}

// Gradients of q and of the pooled k and v of a group.
struct GroupGradients {
  at::Tensor q, k, v;
};

struct GradOutput {
  at::Tensor grad, out, normalizer;
};

GroupGradients flash_backward(const GroupPlan& plan, const Run& run, const GradOutput& up) {
  const FlashInputs in(plan, run);
  const PrimalNumbers& n = plan.call.numbers;
  const auto first = [&](const at::Tensor& rows) {
    return heads_first(plan.group.take(rows), run.first_query, run.items, run.queries, in.width);
  };
  const at::Tensor log_sum = plan.group.take(up.normalizer)
                                 .narrow(0, run.first_query, run.all_queries())
                                 .reshape({run.items, run.queries, plan.head_count})
                                 .transpose(1, 2);
  const auto [q_grad, k_grad, v_grad] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      first(up.grad), in.q, in.k, in.v, first(up.out), log_sum, 0.0, false, std::nullopt, n.scale);
  return {rows_first(q_grad, n.c), rows_first(k_grad, n.c), rows_first(v_grad, n.cv)};
}

void run_units_backward(const GroupPlan& plan, const GradOutput& up, const GroupGradients& to) {
  const PrimalNumbers& n = plan.call.numbers;
  AT_DISPATCH_FLOATING_TYPES(to.q.scalar_type(), "primal_attention", [&] {
    const auto kernels = primal_unit_kernels<scalar_t>(plan.heads.linear);
    plan.for_units([&](const ItemHead& at) {
      const int64_t head = plan.group.heads[at.head];
      const int64_t q0 = plan.heads.offsets.first[at.item], k0 = plan.heads.offsets.second[at.item];
      const PrimalUnitGradients<scalar_t> grad_output{
          rows_of<scalar_t>(up.grad, head, q0), rows_of<scalar_t>(up.normalizer, head, q0),
          mutable_rows_of<scalar_t>(to.q, at.head, q0), mutable_rows_of<scalar_t>(to.k, at.head, k0),
          mutable_rows_of<scalar_t>(to.v, at.head, k0)};
      kernels.backward(n, plan.unit<scalar_t>(at), grad_output);
    });
  });
}

GroupGradients group_backward(const GroupPlan& plan, const GradOutput& up) {
  if (plan.runs.size() == 1 && plan.everything(plan.runs[0])) return flash_backward(plan, plan.runs[0], up);
  const auto like = [](const at::Tensor& x) { return at::empty(x.sizes(), x.options()); };
  const GroupGradients to{like(plan.heads.q), like(plan.heads.k), like(plan.heads.v)};
  run_units_backward(plan, up, to);
  for (const Run& run : plan.runs) {
    const GroupGradients part = flash_backward(plan, run, up);
    to.q.narrow(0, run.first_query, run.all_queries()).copy_(part.q);
    to.k.narrow(0, run.first_key, run.all_keys()).copy_(part.k);
    to.v.narrow(0, run.first_key, run.all_keys()).copy_(part.v);
  }
  return to;
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out, const at::Tensor& normalizer,
                                 const PrimalArguments& a) {
  a.check_grad_output(grad, out, normalizer);
  const PrimalCall call(a);
  const GradOutput up{grad.contiguous(), out.contiguous(), normalizer.contiguous()};
  PrimalGradients all;
  if (call.groups.size() > 1) all = {at::empty_like(call.q), at::empty_like(call.k), at::empty_like(call.v), {}};
  at::Tensor beta_grad = given(a.beta) ? at::empty({1, a.q.size(1)}, call.q.options()) : at::Tensor();
  for (const HeadGroup& group : call.groups) {
    const GroupPlan plan(call, group);
    const GroupGradients made = group_backward(plan, up);
    const PrimalGradients some = plan.heads.gradients(made.q, made.k, made.v);
    if (beta_grad.defined()) group.put(some.beta.unsqueeze(0), beta_grad);
    if (call.groups.size() == 1) {
      all = some;
      continue;
    }
    group.put(some.q, all.q);
    group.put(some.k, all.k);
    group.put(some.v, all.v);
  }
  std::vector<at::Tensor> gradients{all.q, all.k, all.v};
  if (beta_grad.defined()) gradients.push_back(a.beta->dim() == 0 ? beta_grad.sum() : beta_grad.squeeze(0));
  for (at::Tensor& gradient : gradients) gradient = gradient.to(a.q.scalar_type()).contiguous();
  return gradients;
}

}  // namespace

GEOSFT_KERNELS(CPU, m) {
  m.impl("_primal_attention_forward", PrimalOperator::forward<forward>);
  m.impl("_primal_attention_backward", PrimalOperator::backward<backward>);
}

}  // namespace geosft
