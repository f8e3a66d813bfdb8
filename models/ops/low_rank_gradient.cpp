// SPDX-License-Identifier: Apache-2.0
#include "models/ops/low_rank_gradient.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/no_autocast.h"
#include "geometry/packed.h"
#include "models/ops/attention_inputs.h"
#include "models/ops/cpu/polynomial_problem.h"
#include "models/ops/monomials.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/polynomial_attention.h"

namespace geosft {
namespace {

constexpr int64_t kBlockElements = int64_t{1} << 20;  // per block of U3 or V3
constexpr int64_t kMaskedRows = 256;  // rows of a block under a mask, whose pairs are computed explicitly

int64_t block_rows(int64_t elements_a_row, bool causal) {
  const int64_t rows = std::max<int64_t>(1, kBlockElements / elements_a_row);
  return causal ? std::min(rows, kMaskedRows) : rows;
}

at::Tensor with_column(const at::Tensor& rows, const at::Tensor& column) {
  return at::cat({rows, column.unsqueeze(1)}, 1);
}

// Row-wise Kronecker product: [n, a] and [n, b] give [n, a b].
at::Tensor kronecker(const at::Tensor& a, const at::Tensor& b) {
  return (a.unsqueeze(2) * b.unsqueeze(1)).flatten(1);
}

// Computes the gradient for one item and head: q [nq, c], k [nk, c], v [nk, cv], grad [nq, cv]. With E = [G, -rho] /
// denominator and H = [v, 1], P_ij = A_ij E_i . H_j. Under a mask the sums over tokens outside a block are prefix or
// suffix sums, and the pairs within a block are computed explicitly.
class LowRankHead {
 public:
  LowRankHead(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& grad,
              const MonomialBasis& basis, double scale, bool causal)
      : q_(q),
        k_(k),
        grad_(grad),
        h_(with_column(v, at::ones({v.size(0)}, v.options()))),
        e_(at::empty({q.size(0), h_.size(1)}, q.options())),
        basis_(basis),
        weights_(at::tensor(basis.weights, at::kDouble).to(q.scalar_type())),
        scale_(scale),
        causal_(causal),
        block_(block_rows(basis.size() * h_.size(1), causal)) {}

  AttentionGradient gradient() {
    AttentionGradient to{at::empty_like(q_), at::empty_like(k_), at::empty({k_.size(0), h_.size(1) - 1}, k_.options())};
    sum_ = at::zeros({basis_.size(), h_.size(1)}, q_.options());
    moment_ = at::zeros({basis_.size() * h_.size(1), q_.size(1)}, q_.options());
    if (!causal_) for_blocks(k_.size(0), [&](int64_t at, int64_t rows) { take_keys(at, rows); });
    for_blocks(q_.size(0), [&](int64_t at, int64_t rows) { query_block(at, rows, to.q); });
    sum_.zero_();
    moment_.zero_();
    if (!causal_) for_blocks(q_.size(0), [&](int64_t at, int64_t rows) { take_queries(at, rows); });
    const int64_t last = (k_.size(0) - 1) / block_ * block_;
    for (int64_t at = last; at >= 0; at -= block_) key_block(at, std::min(block_, k_.size(0) - at), to);
    return to;
  }

 private:
  template <class Body>
  void for_blocks(int64_t rows, const Body& body) const {
    for (int64_t at = 0; at < rows; at += block_) body(at, std::min(block_, rows - at));
  }

  at::Tensor query_monomials(int64_t at, int64_t rows) const {
    return monomials(q_.narrow(0, at, rows) * scale_, basis_).mul_(weights_);
  }
  at::Tensor key_monomials(int64_t at, int64_t rows) const { return monomials(k_.narrow(0, at, rows), basis_); }

  void take(const at::Tensor& rows, const at::Tensor& columns, const at::Tensor& x) {
    sum_.addmm_(rows.t(), columns);
    moment_.addmm_(kronecker(rows, columns).t(), x);
  }
  void take_keys(int64_t at, int64_t rows) {
    take(key_monomials(at, rows), h_.narrow(0, at, rows), k_.narrow(0, at, rows));
  }
  void take_queries(int64_t at, int64_t rows) {
    take(query_monomials(at, rows), e_.narrow(0, at, rows), q_.narrow(0, at, rows));
  }

  // Returns A of the pairs of a block, masked.
  at::Tensor block_pairs(int64_t at, int64_t rows) const {
    return at::matmul(query_monomials(at, rows), key_monomials(at, rows).t()).tril_();
  }

  void query_block(int64_t at, int64_t rows, const at::Tensor& to) {
    const at::Tensor u = query_monomials(at, rows), g = grad_.narrow(0, at, rows);
    at::Tensor numerator = at::matmul(u, sum_), pairs;
    if (causal_) {
      pairs = block_pairs(at, rows);
      numerator.addmm_(pairs, h_.narrow(0, at, rows));
    }
    const at::Tensor denominator = numerator.select(1, -1);
    const at::Tensor rho = (g * numerator.narrow(1, 0, g.size(1))).sum(1) / denominator;
    const at::Tensor e = with_column(g, -rho).div_(denominator.unsqueeze(1));
    e_.narrow(0, at, rows).copy_(e);
    at::Tensor dq = at::matmul(kronecker(u, e), moment_);
    if (causal_) {
      dq.addmm_(pairs * at::matmul(e, h_.narrow(0, at, rows).t()), k_.narrow(0, at, rows));
      take_keys(at, rows);
    }
    to.narrow(0, at, rows).copy_(dq.mul_(scale_));
  }

  void key_block(int64_t at, int64_t rows, const AttentionGradient& to) {
    const at::Tensor u = key_monomials(at, rows), h = h_.narrow(0, at, rows);
    at::Tensor dv = at::matmul(u, sum_.narrow(1, 0, to.v.size(1))), dk = at::matmul(kronecker(u, h), moment_);
    if (causal_) {
      const at::Tensor pairs = block_pairs(at, rows), e = e_.narrow(0, at, rows);
      dv.addmm_(pairs.t(), e.narrow(1, 0, to.v.size(1)));
      dk.addmm_((pairs * at::matmul(e, h.t())).t(), q_.narrow(0, at, rows));
      take_queries(at, rows);
    }
    to.v.narrow(0, at, rows).copy_(dv);
    to.k.narrow(0, at, rows).copy_(dk.mul_(scale_));
  }

  at::Tensor q_, k_, grad_, h_, e_;
  const MonomialBasis& basis_;
  at::Tensor weights_;
  double scale_;
  bool causal_;
  int64_t block_;
  at::Tensor sum_, moment_;  // over the tokens that a block is paired with
};

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LowRankPolynomial : torch::autograd::Function<LowRankPolynomial> {
  static variable_list forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const PolynomialArguments& a) {
    check_low_rank(q);  // checked here, so that the error is not raised only in the backward pass
    const at::Tensor none;
    context->save_for_backward({q, k, v, a.q_ptr.value_or(none), a.k_ptr.value_or(none)});
    context->saved_data["degree"] = a.degree;
    context->saved_data["scale"] = a.scale;
    context->saved_data["causal"] = a.causal;
    context->saved_data["center"] = a.center;
    context->set_materialize_grads(false);
    return {polynomial_attention(q, k, v, a.degree, a.scale, a.causal, a.q_ptr, a.k_ptr, a.center)};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(4);
    const variable_list s = context->get_saved_variables();
    const auto offsets = [&](size_t i) { return s[i].defined() ? std::optional(s[i]) : std::nullopt; };
    auto& numbers = context->saved_data;
    variable_list gradients = once_differentiable("polynomial_attention_low_rank", {grads[0], s[0], s[1], s[2]}, [&] {
      const AttentionGradient one = polynomial_low_rank_gradient(
          grads[0], s[0], s[1], s[2], numbers["degree"].toInt(), numbers["scale"].toDouble(),
          numbers["causal"].toBool(), offsets(3), offsets(4), numbers["center"].toBool());
      return variable_list{one.q, one.k, one.v};
    });
    gradients.emplace_back();  // no gradients for the other arguments
    return gradients;
  }
};

}  // namespace

void check_low_rank(const at::Tensor& q) {
  TORCH_CHECK(q.scalar_type() == at::kFloat || q.scalar_type() == at::kDouble, "q must be float32 or float64, not ",
              q.scalar_type());
  TORCH_CHECK(q.is_cpu(), "q must be on the CPU, not on ", q.device());
}

AttentionGradient polynomial_low_rank_gradient(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                                               const at::Tensor& v, int64_t degree, double scale, bool causal,
                                               const std::optional<at::Tensor>& q_ptr,
                                               const std::optional<at::Tensor>& k_ptr, bool center) {
  const at::NoGradGuard unrecorded;
  const NoAutocast no_autocast;
  PolynomialArguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center}.check();
  check_low_rank(q);
  check_like(grad, "grad", q);
  check_sizes(grad, "grad", {q.size(0), q.size(1), v.size(2)}, "[Nq, h, cv]");
  const OffsetPair offsets = packed_offset_pair(q_ptr, q.size(0), "q_ptr", k_ptr, k.size(0), "k_ptr", q.device());
  const MonomialBasis basis(q.size(2), degree);
  const at::Tensor centered = center ? centered_rows(k.contiguous(), offsets.second) : k;
  AttentionGradient all{at::zeros_like(q), at::zeros_like(centered), at::zeros_like(v)};
  for (int64_t b = 0; b < offsets.items(); ++b) {
    for (int64_t head = 0; head < q.size(1); ++head) {
      const auto queries = [&](const at::Tensor& x) {
        return x.select(1, head).slice(0, offsets.first[b], offsets.first[b + 1]);
      };
      const auto keys = [&](const at::Tensor& x) {
        return x.select(1, head).slice(0, offsets.second[b], offsets.second[b + 1]);
      };
      if (queries(q).size(0) == 0 || keys(k).size(0) == 0) continue;
      const AttentionGradient one =
          LowRankHead(queries(q), keys(centered), keys(v), queries(grad), basis, scale, causal).gradient();
      queries(all.q).copy_(one.q);
      keys(all.k).copy_(one.k);
      keys(all.v).copy_(one.v);
    }
  }
  if (center) all.k = centered_rows(all.k, offsets.second);
  return all;
}

at::Tensor polynomial_attention_low_rank(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                         double scale, bool causal, const std::optional<at::Tensor>& q_ptr,
                                         const std::optional<at::Tensor>& k_ptr, bool center) {
  return LowRankPolynomial::apply(q, k, v,
                                  PolynomialArguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center})[0];
}

}  // namespace geosft
