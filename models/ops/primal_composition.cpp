// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_composition.h"

#include <ATen/OpMathType.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "geometry/copied_to.h"
#include "geometry/operators.h"
#include "models/ops/attention_checks.h"
#include "models/ops/primal_heads.h"
#include "models/ops/primal_mask.h"

namespace geosft {
namespace {

using Optional = std::optional<at::Tensor>;

// x / y, 0 where y is 0.
at::Tensor divided(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor none = y == 0;
  return at::where(none, at::zeros_like(x), x / at::where(none, at::ones_like(y), y));
}

at::Tensor linear_features(const at::Tensor& x) {
  return at::where(x > 0, x + 1, x.clamp_max(0).exp());
}

// Rows [n, h, c] of one item, and its result.
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

// Rows [N, c] of one head over the pairs of its mask.
at::Tensor masked_head(const PrimalHeads& heads, int64_t place, const PrimalMask& mask, int64_t head, double scale) {
  const at::Tensor q = heads.q.select(1, place), k = heads.k.select(1, place), v = heads.v.select(1, place);
  const int64_t *begin = mask.rows(head), count = q.size(0);
  const std::vector<int64_t> offsets(begin, begin + count + 1);
  const at::Tensor lengths = at::diff(at::tensor(offsets, at::kLong));
  const at::Tensor rows = at::repeat_interleave(lengths).to(q.device());
  const at::Tensor col = mask.col.slice(0, offsets.front(), offsets.back()).to(q.device());
  if (col.numel() == 0) return at::zeros({count, v.size(1)}, v.options());
  const auto sums = [&](const at::Tensor& x, const char* reduce) {
    return at::segment_reduce(x, reduce, lengths.to(q.device()));
  };
  const at::Tensor logits = (q.index_select(0, rows) * k.index_select(0, col)).sum(1) * scale;
  const at::Tensor largest = sums(logits.detach(), "max").index_select(0, rows);
  const at::Tensor weights = (logits - largest).exp();
  return divided(sums(weights.unsqueeze(1) * v.index_select(0, col), "sum"), sums(weights, "sum").unsqueeze(1));
}

at::Tensor group_attention(const PrimalArguments& a, const PrimalHeads& heads, const HeadGroup& group,
                           const PrimalMask& mask) {
  std::vector<at::Tensor> parts;
  if (mask.given()) {
    for (size_t place = 0; place < group.heads.size(); ++place) {
      parts.push_back(masked_head(heads, static_cast<int64_t>(place), mask, group.heads[place], a.logit_scale()));
    }
    return at::stack(parts, 1);
  }
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

// Lets autograd see what a kernel does.
struct AutogradWithin {
  AutogradWithin() : mode(true), guard(let_in()) {}
  static c10::impl::LocalDispatchKeySet let_in() {
    c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
    keys.excluded_ = keys.excluded_ - c10::autograd_dispatch_keyset_with_ADInplaceOrView;
    return keys;
  }
  at::AutoGradMode mode;
  c10::impl::ForceDispatchKeyGuard guard;
};

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           const Optional& beta, at::OptionalIntArrayRef pool, std::string_view kernel,
                                           double eps, const Optional& q_ptr, const Optional& k_ptr,
                                           const Optional& mask_rowptr, const Optional& mask_col,
                                           std::optional<double> scale) {
  return composed_primal_forward({q, k, v, beta, pool, kernel, eps, q_ptr, k_ptr, mask_rowptr, mask_col, scale});
}

std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& /*out*/, const at::Tensor& /*normalizer*/,
                                 const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Optional& beta,
                                 at::OptionalIntArrayRef pool, std::string_view kernel, double eps,
                                 const Optional& q_ptr, const Optional& k_ptr, const Optional& mask_rowptr,
                                 const Optional& mask_col, std::optional<double> scale) {
  return composed_primal_gradients(grad,
                                   {q, k, v, beta, pool, kernel, eps, q_ptr, k_ptr, mask_rowptr, mask_col, scale});
}

}  // namespace

at::Tensor composed_primal_attention(const PrimalArguments& a) {
  a.check();
  const OffsetPair packed =
      packed_offset_pair(a.q_ptr, a.q.size(0), "q_ptr", a.k_ptr, a.k.size(0), "k_ptr", a.q.device());
  const std::vector<HeadGroup> groups = head_groups(a.pool, a.q.size(1));
  const PrimalMask mask(a, packed, groups);
  std::vector<at::Tensor> parts;
  std::vector<int64_t> order;
  for (const HeadGroup& group : groups) {
    parts.push_back(group_attention(a, PrimalHeads(a, packed, group), group, mask));
    order.insert(order.end(), group.heads.begin(), group.heads.end());
  }
  const at::Tensor all = at::cat(parts, 1);
  return all.index_select(1, copied_to(at::tensor(order, at::kLong).argsort(), all.device()));
}

std::tuple<at::Tensor, at::Tensor> composed_primal_forward(const PrimalArguments& a) {
  const at::ScalarType computed = at::toOpMathType(a.q.scalar_type());
  return {composed_primal_attention(a).to(computed),
          at::zeros({a.q.size(0), a.q.size(1)}, a.q.options().dtype(computed))};
}

at::Tensor composed_primal_weights(const PrimalArguments& a) {
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
  // Columns below 0, which a mask of a GPU may have, are no keys.
  const at::Tensor columns = at::where(*a.mask_col < 0, keys, *a.mask_col);
  const at::Tensor beside = at::zeros({a.q.size(0), keys + 1}, logits.options().dtype(at::kBool));
  beside.index_put_({rows, columns}, at::ones({}, beside.options()));
  const at::Tensor seen = beside.narrow(1, 0, keys);
  const at::Tensor unseen = seen.logical_not().unsqueeze(-1);
  const at::Tensor nothing_seen = unseen.all(1, /*keepdim=*/true);
  return logits.masked_fill(unseen, -std::numeric_limits<double>::infinity()).softmax(1).masked_fill(nothing_seen, 0);
}

std::vector<at::Tensor> composed_primal_gradients(const at::Tensor& grad, const PrimalArguments& a) {
  const AutogradWithin within;
  const auto leaf = [](const at::Tensor& x) { return x.detach().requires_grad_(true); };
  std::vector<at::Tensor> leaves{leaf(a.q), leaf(a.k), leaf(a.v)};
  Optional beta;
  if (given(a.beta)) leaves.push_back(*(beta = leaf(*a.beta)));
  const at::Tensor out = composed_primal_attention({leaves[0], leaves[1], leaves[2], beta, a.pool, a.kernel, a.eps,
                                                    a.q_ptr, a.k_ptr, a.mask_rowptr, a.mask_col, a.scale});
  std::vector<at::Tensor> gradients(leaves.size());
  if (out.requires_grad()) {  // not where no query sees a key
    gradients = torch::autograd::grad({out}, leaves, {grad.detach().to(out.scalar_type())}, std::nullopt, false,
                                      /*allow_unused=*/true);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!gradients[i].defined()) gradients[i] = at::zeros_like(leaves[i]);
    gradients[i] = gradients[i].detach();
  }
  return gradients;
}

GEOSFT_KERNELS(CompositeExplicitAutograd, m) {
  m.impl("_primal_attention_forward", forward);
  m.impl("_primal_attention_backward", backward);
}

}  // namespace geosft
