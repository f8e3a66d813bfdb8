// SPDX-License-Identifier: Apache-2.0
// Slow, obvious references of the attention operators: everything n x k is materialised, autograd differentiates.
#pragma once

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "geometry/packed.h"

namespace geosft::test {

using Optional = std::optional<at::Tensor>;

// Says what else a reference computes.
struct ReferencePass {
  // The result that the backward pass reads, where it is not that of the reference: an operator saves its own result,
  // rounded to the type of the arguments.
  at::Tensor out = {};
  // Gradients of the weights of a bias and of the leaks add up the magnitudes of their terms: one for each pair, and
  // one for each query and channel.
  bool magnitudes = false;
  // Set, where it is given, to the minimum of |score| / (1 + the magnitude of its terms) over the pairs.
  double* closest_to_zero = nullptr;
  // Set, where it is given, to the maximum of what the result would be if positive scores and values had the magnitudes
  // of their terms: the rounding of the result is relative to it.
  double* out_magnitude = nullptr;
};

// Repeats a tensor for each term. The gradient of the tensor adds up magnitudes.
struct RepeatedWeight : torch::autograd::Function<RepeatedWeight> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& weight,
                            const std::vector<int64_t>& sizes) {
    context->saved_data["sizes"] = weight.sizes().vec();
    return weight.expand(sizes).clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    return {at::sum_to(grads[0].abs(), context->saved_data["sizes"].toIntVector()), at::Tensor()};
  }
};

// One item: r_mul and r_add [nq, nk, h], undefined for none.
inline at::Tensor reference_item(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                 const at::Tensor& r_mul, const at::Tensor& r_add, double eps,
                                 const ReferencePass& pass = {}) {
  // The query takes a tie: at::where hands the whole gradient to it, at::maximum would halve it.
  const at::Tensor a = q.unsqueeze(1).expand({q.size(0), k.size(0), q.size(1), q.size(2)});
  const at::Tensor b = k.unsqueeze(0).expand_as(a);
  const at::Tensor larger = at::where(a >= b, a, b) / std::sqrt(static_cast<double>(q.size(2)));
  at::Tensor score = larger.sum(-1);
  if (r_mul.defined()) score = score * r_mul;
  if (r_add.defined()) score = score + r_add;
  at::Tensor terms = larger.abs().sum(-1);
  if (r_mul.defined()) terms = terms * r_mul;
  if (r_add.defined()) terms = terms + r_add.abs();
  if (pass.closest_to_zero != nullptr && score.numel() > 0) {
    *pass.closest_to_zero = std::min(*pass.closest_to_zero, (score.abs() / (1 + terms)).min().item<double>());
  }
  const at::Tensor positive = at::where(score > 0, score, at::zeros_like(score));
  at::Tensor leaks = leak.unsqueeze(-1).unsqueeze(0);
  if (pass.magnitudes) {
    const std::vector<int64_t> sizes{q.size(0), k.size(0), v.size(1), v.size(2)};
    leaks = RepeatedWeight::apply(leak.unsqueeze(-1), sizes);
  }
  leaks = at::logaddexp(leaks, at::zeros_like(leaks));
  const at::Tensor sum = positive.sum(1).unsqueeze(-1) + leaks.sum(1) + eps;
  const at::Tensor safe = at::where(sum == 0, at::ones_like(sum), sum);
  const at::Tensor weighted = at::einsum("ijh,jhc->ihc", {positive, v});
  if (pass.out_magnitude != nullptr && weighted.numel() > 0) {
    const at::Tensor of_terms =
        at::einsum("ijh,jhc->ihc", {at::where(score > 0, terms, at::zeros_like(terms)), v.abs()}) / safe;
    *pass.out_magnitude = std::max(*pass.out_magnitude, of_terms.max().item<double>());
  }
  if (!pass.out.defined()) return weighted / safe;
  // The same value; its gradient by the denominator is -out / denominator.
  const at::Tensor fixed = safe.detach();
  return weighted / fixed - pass.out * (safe / fixed - 1);
}

struct ReferencePairs {
  at::Tensor mul, add;  // [nq, nk, h] of one item
};

// bias(b, q_begin, q_end, k_begin, k_end) gives the attention bias of item b.
template <class Bias>
at::Tensor reference_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                               const Optional& q_ptr, const Optional& k_ptr, double eps, const ReferencePass& pass,
                               const Bias& bias) {
  const OffsetPair offsets = packed_offset_pair(q_ptr, q.size(0), "q_ptr", k_ptr, k.size(0), "k_ptr");
  std::vector<at::Tensor> parts;
  for (int64_t b = 0; b < offsets.items(); ++b) {
    const int64_t q0 = offsets.first[b], q1 = offsets.first[b + 1], k0 = offsets.second[b], k1 = offsets.second[b + 1];
    const ReferencePairs pairs = bias(b, q0, q1, k0, k1);
    ReferencePass of_item = pass;
    if (pass.out.defined()) of_item.out = pass.out.slice(0, q0, q1);
    parts.push_back(reference_item(q.slice(0, q0, q1), k.slice(0, k0, k1), v.slice(0, k0, k1), leak.slice(0, k0, k1),
                                   pairs.mul, pairs.add, eps, of_item));
  }
  return at::cat(parts);
}

// mul = softplus(X w_mul + b_mul), add = X w_add + b_add for X [nq, nk, r].
inline ReferencePairs reference_transforms(const at::Tensor& x, const at::Tensor& w_mul, const at::Tensor& b_mul,
                                           const at::Tensor& w_add, const at::Tensor& b_add,
                                           const ReferencePass& pass) {
  const auto transform = [&](const at::Tensor& w, const at::Tensor& b) {
    if (!pass.magnitudes) return at::matmul(x, w) + b;
    const std::vector<int64_t> sizes{x.size(0), x.size(1), w.size(0), w.size(1)};
    return (x.unsqueeze(-1) * RepeatedWeight::apply(w, sizes)).sum(2) +
           RepeatedWeight::apply(b, std::vector<int64_t>{sizes[0], sizes[1], sizes[3]});
  };
  const at::Tensor before = transform(w_mul, b_mul);
  return {at::logaddexp(before, at::zeros_like(before)), transform(w_add, b_add)};
}

inline at::Tensor reference_maxout(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                   const at::Tensor& leak, const Optional& r_mul, const Optional& r_add,
                                   const Optional& q_ptr, const Optional& k_ptr, double eps,
                                   const ReferencePass& pass = {}) {
  int64_t row = 0;
  return reference_attention(q, k, v, leak, q_ptr, k_ptr, eps, pass,
                             [&](int64_t, int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
                               const int64_t begin = row;
                               row += (q1 - q0) * (k1 - k0);
                               const auto pick = [&](const Optional& r) {
                                 return r ? r->slice(0, begin, row).view({q1 - q0, k1 - k0, q.size(1)}) : at::Tensor();
                               };
                               return ReferencePairs{pick(r_mul), pick(r_add)};
                             });
}

inline at::Tensor reference_point(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                  const at::Tensor& x, const at::Tensor& xs, const Optional& m, const Optional& ms,
                                  const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                                  const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps,
                                  const ReferencePass& pass = {}) {
  return reference_attention(
      q, k, v, leak, q_ptr, k_ptr, eps, pass, [&](int64_t, int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
        const at::Tensor apart = xs.slice(0, k0, k1).unsqueeze(0) - x.slice(0, q0, q1).unsqueeze(1);
        std::vector<at::Tensor> channels{apart.square().sum(-1)};
        if (m) {
          const at::Tensor normals = m->slice(0, q0, q1).unsqueeze(1).expand_as(apart);
          const at::Tensor key_normals = ms->slice(0, k0, k1).unsqueeze(0).expand_as(apart);
          for (const at::Tensor& product : {normals * key_normals, normals * apart, key_normals * apart,
                                            at::linalg_cross(normals, key_normals) * apart}) {
            if (static_cast<int64_t>(channels.size()) < w_mul.size(0)) channels.push_back(product.sum(-1));
          }
        }
        return reference_transforms(at::stack(channels, -1), w_mul, b_mul, w_add, b_add, pass);
      });
}

inline at::Tensor reference_sequence(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                     const at::Tensor& leak, const at::Tensor& s, const at::Tensor& ss,
                                     const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                                     const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps,
                                     const ReferencePass& pass = {}) {
  return reference_attention(q, k, v, leak, q_ptr, k_ptr, eps, pass,
                             [&](int64_t, int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
                               const at::Tensor x = s.slice(0, q0, q1).unsqueeze(1) * ss.slice(0, k0, k1).unsqueeze(0);
                               return reference_transforms(x, w_mul, b_mul, w_add, b_add, pass);
                             });
}

// X_R is a dense matrix here.
inline at::Tensor reference_graph(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                                  const at::Tensor& rowptr, const at::Tensor& col, const at::Tensor& edge_attr,
                                  const at::Tensor& top, const at::Tensor& partner, const at::Tensor& weight,
                                  const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                                  const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps,
                                  const ReferencePass& pass = {}) {
  const int64_t nodes = q.size(0);
  const at::Tensor rows = at::repeat_interleave(at::arange(nodes, at::kLong), rowptr.diff());
  const at::Tensor dense = at::zeros({nodes, nodes, edge_attr.size(1)}, edge_attr.options())
                               .index_put({rows, col}, edge_attr, /*accumulate=*/true);
  return reference_attention(
      q, k, v, leak, q_ptr, k_ptr, eps, pass, [&](int64_t, int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
        const auto bias_of = [&](const at::Tensor& to) {
          const at::Tensor x = dense.slice(0, q0, q1).index_select(1, to.slice(0, k0, k1));
          return reference_transforms(x, w_mul, b_mul, w_add, b_add, pass);
        };
        const ReferencePairs first = bias_of(top), second = bias_of(partner);
        const at::Tensor p = weight.slice(0, k0, k1).view({1, k1 - k0, 1});
        return ReferencePairs{p * first.mul + (1 - p) * second.mul, p * first.add + (1 - p) * second.add};
      });
}

}  // namespace geosft::test
