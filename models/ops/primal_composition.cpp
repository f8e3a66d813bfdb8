// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_composition.h"

#include <ATen/OpMathType.h>

#include <limits>

#include "geometry/device_offsets.h"
#include "geometry/no_autocast.h"
#include "geometry/operators.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/composite_gradient.h"
#include "models/ops/primal_heads.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

// Returns x / y, or 0 where y is 0.
at::Tensor divided(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor none = y == 0;
  return at::where(none, at::zeros_like(x), x / at::where(none, at::ones_like(y), y));
}

at::Tensor linear_features(const at::Tensor& x) {
  const at::Tensor positive = x > 0;
  return at::where(positive, x + 1, x.masked_fill(positive, 0).exp());  // a clamp may have no gradient at 0
}

// Computes rows [n, h, c] of one item.
at::Tensor linear_item(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double eps) {
  const at::Tensor g = linear_features(q), f = linear_features(k);
  const at::Tensor mixed = at::einsum("ihc,hcd->ihd", {g, at::einsum("jhc,jhd->hcd", {f, v})});
  return divided(mixed, at::einsum("ihc,hc->ih", {g, f.sum(0)}).unsqueeze(-1) + eps);
}

at::Tensor softmax_item(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale) {
  const auto first = [](const at::Tensor& x) { return x.transpose(0, 1).unsqueeze(0); };
  return at::scaled_dot_product_attention(first(q), first(k), first(v), {}, 0.0, false, scale)
      .squeeze(0)
      .transpose(0, 1);
}

// Pairs of rows of q and k [E]. On a GPU their values are not read by the host: entries that are no pairs stay in
// place, with `seen` false.
struct MaskedPairs {
  at::Tensor query, key, seen;
};

// Returns the result [Nq, cv] for q [Nq, c], k [Nk, c] and v [Nk, cv].
at::Tensor masked_rows(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const MaskedPairs& pairs,
                       double scale) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  const at::ScalarType wide = at::toOpMathType(v.scalar_type());
  const at::Tensor products = q.index_select(0, pairs.query) * k.index_select(0, pairs.key);
  const at::Tensor logits = products.sum(1, /*keepdim=*/false, wide) * scale;
  const at::Tensor unseen = pairs.seen.logical_not();
  const at::Tensor largest = at::full({q.size(0)}, never, logits.options())
                                 .scatter_reduce(0, pairs.query, logits.detach().masked_fill(unseen, never), "amax");
  const at::Tensor weights = (logits - largest.index_select(0, pairs.query)).masked_fill(unseen, never).exp();
  const auto sums = [&](const at::Tensor& x) {
    return at::zeros({q.size(0), x.size(1)}, x.options()).index_add(0, pairs.query, x);
  };
  return divided(sums(weights.unsqueeze(1) * v.index_select(0, pairs.key)), sums(weights.unsqueeze(1))).to(v);
}

// The mask of a call for the heads of a group. On a GPU its values are not checked: keys of other items and columns
// that are not keys are masked out.
class GroupMask {
 public:
  GroupMask(const PrimalArguments& a, const PrimalHeads& heads, const HeadGroup& group)
      : count_(static_cast<int64_t>(group.heads.size())), a_head_(a.mask_rowptr->size(0) != a.q.size(0) + 1) {
    const at::Device device = a.q.device();
    const at::Tensor col = a.mask_col->contiguous();
    const at::Tensor row = item_of_row_on_device(*a.mask_rowptr, col.size(0), device);
    const int64_t queries = a.q.size(0), keys = heads.k.size(0);
    const auto items = [&](const std::vector<int64_t>& offsets, const at::Tensor& rows) {
      return item_of_row_on_device(offsets_tensor(offsets), offsets.back(), device).index_select(0, rows);
    };
    // Invalid columns are mapped to different keys; otherwise many would be added to the gradient of the same key.
    const at::Tensor some = at::where(col < 0, col.bitwise_not(), col).remainder(keys);
    pairs_ = {row.remainder(queries), some, at::logical_and(col >= 0, col < keys)};
    pairs_.seen.logical_and_(items(heads.offsets.first, pairs_.query) == items(heads.offsets.second, pairs_.key));
    if (!a_head_) return;
    // A mask contains the pairs of all heads, including those of other groups.
    std::vector<int64_t> places(static_cast<size_t>(a.q.size(1)), -1);
    for (size_t i = 0; i < group.heads.size(); ++i) places[group.heads[i]] = static_cast<int64_t>(i);
    const at::Tensor place =
        copy_to_device(at::tensor(places, at::kLong), device).index_select(0, row.div(queries, "floor"));
    pairs_.seen.logical_and_(place >= 0);
    pairs_.query.mul_(count_).add_(place.clamp_min(0));
    pairs_.key.mul_(count_).add_(place.clamp_min(0));
  }

  // Returns [Nq, heads, cv].
  at::Tensor attention(const PrimalHeads& heads, double scale) const {
    const at::Tensor &q = heads.q, &k = heads.k, &v = heads.v;
    if (a_head_) {
      const auto rows = [](const at::Tensor& x) { return x.flatten(0, 1); };
      return masked_rows(rows(q), rows(k), rows(v), pairs_, scale).view({q.size(0), count_, v.size(2)});
    }
    std::vector<at::Tensor> parts;
    for (int64_t i = 0; i < count_; ++i)
      parts.push_back(masked_rows(q.select(1, i), k.select(1, i), v.select(1, i), pairs_, scale));
    return at::stack(parts, 1);
  }

 private:
  int64_t count_;
  bool a_head_;  // each head has its own mask; rows are then those of q and k times heads
  MaskedPairs pairs_;
};

at::Tensor masked_attention(const PrimalArguments& a, const PrimalHeads& heads, const HeadGroup& group) {
  if (a.mask_col->numel() == 0 || heads.q.size(0) == 0 || heads.k.size(0) == 0)
    return at::zeros({heads.q.size(0), heads.q.size(1), heads.v.size(2)}, heads.v.options());
  return GroupMask(a, heads, group).attention(heads, a.logit_scale());
}

at::Tensor group_attention(const PrimalArguments& a, const PrimalHeads& heads, const HeadGroup& group) {
  if (given(a.mask_rowptr)) return masked_attention(a, heads, group);
  // The first part is the result for a batch of no items.
  std::vector<at::Tensor> parts{at::zeros({0, heads.q.size(1), heads.v.size(2)}, heads.v.options())};
  for (int64_t b = 0; b < heads.offsets.items(); ++b) {
    const auto item = [b](const at::Tensor& x, const std::vector<int64_t>& offsets) {
      return x.slice(0, offsets[b], offsets[b + 1]);
    };
    const at::Tensor q = item(heads.q, heads.offsets.first);
    const at::Tensor k = item(heads.k, heads.offsets.second), v = item(heads.v, heads.offsets.second);
    if (q.size(0) == 0 || k.size(0) == 0) {
      parts.push_back(at::zeros({q.size(0), q.size(1), v.size(2)}, v.options()));
    } else {
      parts.push_back(heads.linear ? linear_item(q, k, v, a.eps) : softmax_item(q, k, v, a.logit_scale()));
    }
  }
  return at::cat(parts, 0);
}

std::vector<at::Tensor> gradients_alone(const at::Tensor& grad, const at::Tensor& /*out*/,
                                        const at::Tensor& /*normalizer*/, const PrimalArguments& a) {
  return composed_primal_gradients(grad, a);
}

}  // namespace

at::Tensor composed_primal_attention(const PrimalArguments& a) {
  const NoAutocast no_autocast;
  a.check();
  const OffsetPair packed =
      packed_offset_pair(a.q_ptr, a.q.size(0), "q_ptr", a.k_ptr, a.k.size(0), "k_ptr", a.q.device());
  const std::vector<HeadGroup> groups = head_groups(a.pool, a.q.size(1));
  if (a.q.is_cpu()) PrimalMask(a, packed, groups);  // checks its values
  std::vector<at::Tensor> parts;
  std::vector<int64_t> order;
  for (const HeadGroup& group : groups) {
    parts.push_back(group_attention(a, PrimalHeads(a, packed, group), group));
    order.insert(order.end(), group.heads.begin(), group.heads.end());
  }
  const at::Tensor all = at::cat(parts, 1);
  return all.index_select(1, copy_to_device(at::tensor(order, at::kLong).argsort(), all.device()));
}

std::tuple<at::Tensor, at::Tensor> composed_primal_forward(const PrimalArguments& a) {
  const at::ScalarType computed = at::toOpMathType(a.q.scalar_type());
  return {composed_primal_attention(a).to(computed),
          at::zeros({a.q.size(0), a.q.size(1)}, a.q.options().dtype(computed))};
}

at::Tensor composed_primal_weights(const PrimalArguments& a) {
  const NoAutocast no_autocast;
  a.check();
  const OffsetPair whole =
      packed_offset_pair(std::nullopt, a.q.size(0), "q_ptr", std::nullopt, a.k.size(0), "k_ptr", a.q.device());
  const PrimalHeads heads(a, whole, head_groups(std::nullopt, a.q.size(1)).front());
  const auto products = [](const at::Tensor& q, const at::Tensor& k) { return at::einsum("ihc,jhc->ijh", {q, k}); };
  if (heads.linear) {
    const at::Tensor weights = products(linear_features(heads.q), linear_features(heads.k));
    return divided(weights, weights.sum(1, true) + a.eps);
  }
  const at::Tensor logits = products(heads.q, heads.k) * a.logit_scale();
  if (!given(a.mask_rowptr)) return logits.softmax(1);
  const int64_t keys = a.k.size(0);
  const at::Tensor rows = at::repeat_interleave(a.mask_rowptr->diff());
  // On a GPU a mask may have columns that are not keys.
  const at::Tensor columns = at::where(at::logical_or(*a.mask_col<0, *a.mask_col> keys), keys, *a.mask_col);
  const at::Tensor beside = at::zeros({a.q.size(0), keys + 1}, logits.options().dtype(at::kBool));
  beside.index_put_({rows, columns}, at::ones({}, beside.options()));
  const at::Tensor seen = beside.narrow(1, 0, keys);
  const at::Tensor unseen = seen.logical_not().unsqueeze(-1);
  const at::Tensor nothing_seen = unseen.all(1, /*keepdim=*/true);
  return logits.masked_fill(unseen, -std::numeric_limits<double>::infinity()).softmax(1).masked_fill(nothing_seen, 0);
}

std::vector<at::Tensor> composed_primal_gradients(const at::Tensor& grad, const PrimalArguments& a) {
  std::vector<at::Tensor> inputs{a.q, a.k, a.v};
  if (given(a.beta)) inputs.push_back(*a.beta);
  return composite_gradients(grad, inputs, [&](const std::vector<at::Tensor>& leaves) {
    const Optional beta = leaves.size() > 3 ? Optional(leaves[3]) : std::nullopt;
    return composed_primal_attention({leaves[0], leaves[1], leaves[2], beta, a.pool, a.kernel, a.eps, a.q_ptr, a.k_ptr,
                                      a.mask_rowptr, a.mask_col, a.scale});
  });
}

GEOSFT_KERNELS(CompositeExplicitAutograd, m) {
  m.impl("_primal_attention_forward", PrimalOperator::forward<composed_primal_forward>);
  m.impl("_primal_attention_backward", PrimalOperator::backward<gradients_alone>);
}

}  // namespace geosft
