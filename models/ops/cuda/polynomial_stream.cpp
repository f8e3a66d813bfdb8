// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_stream.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "geometry/packed.h"
#include "models/ops/attention_checks.h"
#include "models/ops/cpu/computable.h"
#include "models/ops/monomials.h"

namespace geosft::cuda {
namespace {

constexpr int64_t kBlockElements = int64_t{1} << 22;  // of the monomials of a block
constexpr int64_t kLeastBlock = 32;
constexpr double kWorthAnItem = 1 << 30;  // multiply-adds of pairs that outweigh some hundred launches
constexpr double kWorthARow = 4;          // … and of pairs for one of monomials, which pass through memory

// Which blocks of the other side a block of its own meets: all, or those before it or after it, and in the same block
// the rows up to its own or from it on.
enum class Reach { all, before, after };

// One side of an item: x [h, n, c] times the root of the scale, y [h, n, columns].
struct Side {
  at::Tensor x, y;
  int64_t rows() const { return x.size(1); }
};

// value = sum_j T_g(x . x'_j) y'_j [h, n, columns], gradient [h, n, c] that of x where value's is y.
struct Related {
  at::Tensor value, gradient;
};

// sum_{t <= degree} s^t / t!
at::Tensor taylor(const at::Tensor& s, int64_t degree) {
  if (degree < 0) return at::zeros_like(s);
  at::Tensor sum = at::ones_like(s);
  for (int64_t t = degree; t >= 1; --t) sum = sum.mul_(s / static_cast<double>(t)).add_(1.0);
  return sum;
}

class Streamed {
 public:
  Streamed(const MonomialBasis& basis, const Side& own, const Side& other, Reach reach)
      : basis_(basis),
        own_(own),
        other_(other),
        reach_(reach),
        weights_(at::tensor(basis.weights, at::kDouble).to(own.x.options())),
        sum_(at::zeros({own.x.size(0), basis.size(), other.y.size(2)}, own.x.options())),
        block_(block_rows()) {}

  // Of the gradient or the value that is not asked for an undefined tensor.
  Related relate(bool value, bool gradient) {
    Related to;
    if (value) to.value = at::empty({own_.x.size(0), own_.rows(), other_.y.size(2)}, own_.x.options());
    if (gradient) to.gradient = at::empty_like(own_.x);
    if (reach_ == Reach::all) {
      for (int64_t at = 0; at < other_.rows(); at += block_) take(at, std::min(block_, other_.rows() - at));
    }
    const int64_t blocks = (own_.rows() + block_ - 1) / block_;
    for (int64_t n = 0; n < blocks; ++n) {
      const int64_t at = (reach_ == Reach::after ? blocks - 1 - n : n) * block_;
      const int64_t rows = std::min(block_, own_.rows() - at);
      relate_block(at, rows, to);
      if (reach_ == Reach::all) continue;
      relate_pairs(at, rows, to);
      take(at, rows);
    }
    return to;
  }

 private:
  int64_t block_rows() const {
    const int64_t heads = own_.x.size(0), m = basis_.size();
    int64_t rows = kBlockElements / (heads * m);
    if (reach_ != Reach::all) {  // pairs of a block are not to be more work than its monomials, nor more numbers
      const auto square = static_cast<int64_t>(std::sqrt(static_cast<double>(kBlockElements / heads)));
      rows = std::min({rows, std::max<int64_t>(m, 128), square});
    }
    return std::max(rows, kLeastBlock);
  }

  at::Tensor monomials_of(const at::Tensor& x) const {
    return monomials(x.reshape({-1, x.size(2)}), basis_).view({x.size(0), x.size(1), -1});
  }

  // Rows of the other side join the sum.
  void take(int64_t at, int64_t rows) {
    sum_.baddbmm_(monomials_of(other_.x.narrow(1, at, rows)).transpose(1, 2), other_.y.narrow(1, at, rows));
  }

  void relate_block(int64_t at, int64_t rows, const Related& to) const {
    const at::Tensor x = own_.x.narrow(1, at, rows), values = monomials_of(x);
    if (to.value.defined()) to.value.narrow(1, at, rows).copy_(at::bmm(values * weights_, sum_));
    if (!to.gradient.defined()) return;
    const at::Tensor slopes = at::bmm(own_.y.narrow(1, at, rows), sum_.transpose(1, 2)).mul_(weights_);
    to.gradient.narrow(1, at, rows)
        .copy_(monomials_gradient(x.reshape({-1, x.size(2)}), values.flatten(0, 1), slopes.flatten(0, 1), basis_)
                   .view_as(x));
  }

  // The pairs of rows of one block.
  void relate_pairs(int64_t at, int64_t rows, const Related& to) const {
    const auto masked = [&](const at::Tensor& pairs) { return reach_ == Reach::before ? pairs.tril() : pairs.triu(); };
    const at::Tensor x = other_.x.narrow(1, at, rows), y = other_.y.narrow(1, at, rows);
    const at::Tensor score = at::bmm(own_.x.narrow(1, at, rows), x.transpose(1, 2));
    if (to.value.defined()) to.value.narrow(1, at, rows).baddbmm_(masked(taylor(score, basis_.degree)), y);
    if (!to.gradient.defined()) return;
    const at::Tensor upstream = at::bmm(own_.y.narrow(1, at, rows), y.transpose(1, 2));
    to.gradient.narrow(1, at, rows).baddbmm_(masked(taylor(score, basis_.degree - 1).mul_(upstream)), x);
  }

  const MonomialBasis& basis_;
  const Side &own_, &other_;
  Reach reach_;
  at::Tensor weights_, sum_;  // sum_ [h, m, columns]
  int64_t block_;
};

// What all items share.
struct Problem {
  explicit Problem(const PolynomialArguments& a)
      : offsets(packed_offset_pair(a.q_ptr, a.q.size(0), "q_ptr", a.k_ptr, a.k.size(0), "k_ptr", a.q.device())),
        q(computable(a.q)),
        k(a.center ? minus_means(computable(a.k)) : computable(a.k)),
        v(computable(a.v)),
        basis(q.size(2), a.degree),
        root(std::sqrt(std::abs(a.scale))),
        sign(a.scale < 0 ? -1.0 : 1.0),
        causal(a.causal) {
    TORCH_CHECK(!causal || offsets.first == offsets.second,
                "causal needs items of as many keys as queries: q_ptr and k_ptr must be equal");
  }

  // Rows minus the mean of their item; its own transpose.
  at::Tensor minus_means(const at::Tensor& rows) const {
    at::Tensor result = rows.clone();
    for (int64_t b = 0; b < offsets.items(); ++b) {
      if (offsets.second[b] == offsets.second[b + 1]) continue;
      const at::Tensor item = result.slice(0, offsets.second[b], offsets.second[b + 1]);
      item.sub_(item.mean(0, /*keepdim=*/true, at::kDouble));
    }
    return result;
  }

  Side queries(int64_t b, const at::Tensor& y) const { return side(q, sign * root, y, offsets.first, b); }
  Side keys(int64_t b, const at::Tensor& y) const { return side(k, root, y, offsets.second, b); }
  at::Tensor values_and_one() const { return at::cat({v, at::ones({v.size(0), v.size(1), 1}, v.options())}, 2); }

  OffsetPair offsets;
  at::Tensor q, k, v;
  MonomialBasis basis;
  double root, sign;
  bool causal;

 private:
  static at::Tensor heads_first(const at::Tensor& rows, const std::vector<int64_t>& offsets, int64_t b) {
    return rows.slice(0, offsets[b], offsets[b + 1]).transpose(0, 1).contiguous();
  }
  static Side side(const at::Tensor& x, double scale, const at::Tensor& y, const std::vector<int64_t>& offsets,
                   int64_t b) {
    return {heads_first(x, offsets, b).mul(scale), y.defined() ? heads_first(y, offsets, b) : y};
  }
};

bool on_host(const std::optional<at::Tensor>& ptr) {
  return !given(ptr) || ptr->is_cpu();
}

// Into rows [n, h, w] from [h, n, w].
void put(const at::Tensor& to, const std::vector<int64_t>& offsets, int64_t b, const at::Tensor& from) {
  to.slice(0, offsets[b], offsets[b + 1]).copy_(from.transpose(0, 1));
}

}  // namespace

bool worth_streaming(const PolynomialArguments& a) {
  if (!on_host(a.q_ptr) || !on_host(a.k_ptr)) return false;
  const OffsetPair offsets =
      packed_offset_pair(a.q_ptr, a.q.size(0), "q_ptr", a.k_ptr, a.k.size(0), "k_ptr", a.q.device());
  const auto heads = static_cast<double>(a.q.size(1)), columns = static_cast<double>(a.v.size(2) + 1);
  const double a_pair = static_cast<double>(a.q.size(2) + a.degree) + columns;
  const double a_row = static_cast<double>(monomial_count(a.q.size(2), a.degree)) * (columns + 1);
  double pairs = 0, rows = 0;
  for (int64_t b = 0; b < offsets.items(); ++b) {
    const auto own = static_cast<double>(offsets.first[b + 1] - offsets.first[b]);
    const auto other = static_cast<double>(offsets.second[b + 1] - offsets.second[b]);
    pairs += heads * own * other * a_pair;
    rows += heads * (own + other) * a_row;
  }
  return pairs >= kWorthAnItem * static_cast<double>(offsets.items()) && pairs >= kWorthARow * rows;
}

std::tuple<at::Tensor, at::Tensor> streamed_forward(const PolynomialArguments& arguments) {
  arguments.check();
  const at::NoGradGuard unrecorded;
  const Problem problem(arguments);
  const int64_t cv = problem.v.size(2);
  const at::Tensor out = at::zeros({problem.q.size(0), problem.q.size(1), cv}, problem.q.options());
  const at::Tensor denominator = at::zeros({problem.q.size(0), problem.q.size(1)}, problem.q.options());
  const at::Tensor y = problem.values_and_one();
  for (int64_t b = 0; b < problem.offsets.items(); ++b) {
    const Side own = problem.queries(b, {}), other = problem.keys(b, y);
    if (own.rows() == 0 || other.rows() == 0) continue;
    const at::Tensor sums =
        Streamed(problem.basis, own, other, problem.causal ? Reach::before : Reach::all).relate(true, false).value;
    put(out, problem.offsets.first, b, sums.narrow(2, 0, cv) / sums.narrow(2, cv, 1));
    put(denominator, problem.offsets.first, b, sums.select(2, cv));
  }
  return {out.to(arguments.q.scalar_type()), denominator};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> streamed_backward(const at::Tensor& grad, const at::Tensor& out,
                                                                 const at::Tensor& denominator,
                                                                 const PolynomialArguments& arguments) {
  arguments.check();
  check_upstream(grad, out, denominator, arguments.q, arguments.v);
  const at::NoGradGuard unrecorded;
  const Problem problem(arguments);
  const at::Tensor shared = computable(grad) / denominator.unsqueeze(-1);
  const at::Tensor of_queries = at::cat({shared, (shared * computable(out)).sum(-1, /*keepdim=*/true).neg_()}, 2);
  const at::Tensor of_keys = problem.values_and_one();
  const at::Tensor q_grad = at::zeros_like(problem.q), v_grad = at::zeros_like(problem.v);
  at::Tensor k_grad = at::zeros_like(problem.k);
  for (int64_t b = 0; b < problem.offsets.items(); ++b) {
    const Side queries = problem.queries(b, of_queries), keys = problem.keys(b, of_keys);
    if (queries.rows() == 0 || keys.rows() == 0) continue;
    const auto reach = [&](Reach masked) { return problem.causal ? masked : Reach::all; };
    const Related from_keys = Streamed(problem.basis, queries, keys, reach(Reach::before)).relate(false, true);
    const Related from_queries = Streamed(problem.basis, keys, queries, reach(Reach::after)).relate(true, true);
    put(q_grad, problem.offsets.first, b, from_keys.gradient * (problem.sign * problem.root));
    put(k_grad, problem.offsets.second, b, from_queries.gradient * problem.root);
    put(v_grad, problem.offsets.second, b, from_queries.value.narrow(2, 0, problem.v.size(2)));
  }
  if (arguments.center) k_grad = problem.minus_means(k_grad);
  const at::ScalarType type = arguments.q.scalar_type();
  return {q_grad.to(type), k_grad.to(type), v_grad.to(type)};
}

}  // namespace geosft::cuda
