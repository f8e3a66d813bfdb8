// SPDX-License-Identifier: Apache-2.0
// Cases of polynomial_attention and what it is held to: the polynomial evaluated n x n, differentiated by autograd.
#pragma once

#include "geometry/packed.h"
#include "models/ops/polynomial_attention.h"
#include "tests/models/ops/attention_cases.h"

namespace geosft::test {

// The arguments that are no tensors.
struct PolynomialNumbers {
  int64_t degree = 4;
  double scale = 0.5;
  bool causal = false, center = false;
};

inline PolynomialNumbers polynomial_numbers(const Fixture& fixture) {
  return {static_cast<int64_t>(fixture.number("degree", -1)), fixture.number("scale", 0),
          fixture.number("causal", 0) != 0, fixture.number("center", 0) != 0};
}

inline Attention fused_polynomial(const PolynomialNumbers& n) {
  return [n](const Arguments& a) {
    return polynomial_attention(a["q"], a["k"], a["v"], n.degree, n.scale, n.causal, a.optional("q_ptr"),
                                a.optional("k_ptr"), n.center);
  };
}

// sum_{t <= degree} x^t / t!; the exponential for a negative degree.
inline at::Tensor taylor(const at::Tensor& x, int64_t degree) {
  if (degree < 0) return x.exp();
  at::Tensor sum = at::ones_like(x), term = at::ones_like(x);
  for (int64_t t = 1; t <= degree; ++t) {
    term = term * x / static_cast<double>(t);
    sum = sum + term;
  }
  return sum;
}

inline at::Tensor slow_polynomial_item(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& v,
                                       const PolynomialNumbers& n, const at::Tensor& out) {
  if (keys.size(0) == 0) return q.new_zeros({q.size(0), q.size(1), v.size(2)});
  const at::Tensor k = n.center ? keys - keys.mean(0, true) : keys;
  at::Tensor a = taylor(at::einsum("ihc,jhc->hij", {q, k}) * n.scale, n.degree);
  if (n.causal) a = a.tril();
  const at::Tensor sum = a.sum(-1, true);
  if (!out.defined()) return at::einsum("hij,jhc->ihc", {a / sum, v});
  // The same value; its gradient by the sum is -out / sum.
  const at::Tensor fixed = sum.detach();
  return at::einsum("hij,jhc->ihc", {a / fixed, v}) - out * (sum / fixed - 1).transpose(0, 1);
}

inline Attention slow_polynomial(const PolynomialNumbers& n) {
  return [n](const Arguments& a) {
    const OffsetPair offsets =
        packed_offset_pair(a.optional("q_ptr"), a["q"].size(0), "q_ptr", a.optional("k_ptr"), a["k"].size(0), "k_ptr");
    std::vector<at::Tensor> items;
    for (int64_t b = 0; b < offsets.items(); ++b) {
      const auto queries = [&](const at::Tensor& rows) {
        return rows.defined() ? rows.slice(0, offsets.first[b], offsets.first[b + 1]) : rows;
      };
      const auto keys = [&](const char* name) { return a[name].slice(0, offsets.second[b], offsets.second[b + 1]); };
      items.push_back(slow_polynomial_item(queries(a["q"]), keys("k"), keys("v"), n, queries(a.pass.out)));
    }
    return at::cat(items, 0);
  };
}

// q, k, v, q_ptr and k_ptr; |scale q . k| stays moderate, as it must for degrees that are odd.
inline Arguments random_polynomial(const Sizes& sizes, uint64_t seed) {
  Arguments a = random_attention(sizes, seed);
  a.tensors.erase("leak");
  for (const char* name : {"q", "k"}) a.tensors[name] = a[name] * (0.5 / std::sqrt(static_cast<double>(sizes.c)));
  return a;
}

// Result and gradients of something that computes polynomial_attention, in this type.
using PolynomialRun =
    std::function<Outcome(const Arguments&, const PolynomialNumbers&, const at::Tensor& grad_output, at::ScalarType)>;

inline void require_run(const PolynomialRun& run, const Arguments& a, const PolynomialNumbers& n,
                        const at::Tensor& grad_output, const Outcome& expected, const std::string& what) {
  require_outcome(run(a, n, grad_output, at::kDouble), expected, 1e-10, 1e-10, what + " float64");
  require_outcome(run(a, n, grad_output, at::kFloat), expected, 2e-5, 1e-4, what + " float32");
}

inline void require_golden_runs(const PolynomialRun& run) {
  for (const char* name : {"one", "ragged_g4", "ragged_g6", "ragged_g3", "cross_ragged", "causal_one", "causal_ragged",
                           "negative_scale", "g0", "g1", "centered_ragged"}) {
    const Fixture fixture(std::string("polynomial_") + name);
    Arguments a;
    Outcome expected{fixture.get("out"), {}};
    for (const char* argument : {"q", "k", "v", "q_ptr", "k_ptr"}) {
      if (fixture.has(argument)) a.tensors[argument] = fixture.get(argument);
    }
    for (const char* argument : {"q", "k", "v"}) {
      expected.gradients[argument] = fixture.get(std::string("grad.") + argument);
    }
    require_run(run, a, polynomial_numbers(fixture), fixture.get("grad_out"), expected, name);
  }
}

inline void require_reference_run(const PolynomialRun& run, const Arguments& a, const PolynomialNumbers& n) {
  const at::Tensor grad_output = at::randn({a["q"].size(0), a["q"].size(1), a["v"].size(2)}, generator(5), at::kDouble);
  require_run(run, a, n, grad_output, evaluate(slow_polynomial(n), a, grad_output, at::kDouble), "random");
}

struct PolynomialCase {
  Sizes sizes;
  PolynomialNumbers numbers;
};

// Every option, items that are empty, of one token and longer than a tile, and the widest heads.
inline std::vector<PolynomialCase> awkward_polynomials() {
  return {{{{129}, {33}, 3, 5, 7}, {4, 2.0}},
          {{{5, 0, 131, 2, 3}, {4, 3, 65, 0, 9}, 2, 17, 3}, {3, -2.0}},
          {{{70, 1, 0, 66}, {70, 1, 0, 66}, 2, 33, 20}, {2, 2.0, true}},
          {{{40, 7}, {70, 5}, 1, 128, 65}, {2, 2.0, false, true}},
          {{{150}, {150}, 1, 3, 40}, {8, 2.0, true}}};
}

// One item comes without ptr.
inline void require_reference_runs(const PolynomialRun& run, const std::vector<PolynomialCase>& cases) {
  uint64_t seed = 70;
  for (const auto& [sizes, numbers] : cases) {
    Arguments a = random_polynomial(sizes, ++seed);
    if (sizes.queries.size() == 1) {
      a.tensors.erase("q_ptr");
      a.tensors.erase("k_ptr");
    }
    require_reference_run(run, a, numbers);
  }
}

inline void require_half_runs(const PolynomialRun& run) {
  const Arguments a = random_polynomial({{20, 3}, {17, 2}, 2, 4, 5}, 36);
  const at::Tensor grad_output = at::ones({23, 2, 5}, at::kDouble);
  for (const auto& [type, tolerance] : {std::pair(at::kHalf, 5e-3), std::pair(at::kBFloat16, 5e-2)}) {
    const Outcome actual = run(a, {4, 2.0}, grad_output, type);
    REQUIRE(actual.out.scalar_type() == type);
    for (const auto& [name, gradient] : actual.gradients) REQUIRE(gradient.scalar_type() == type);
    require_close(actual.out, slow_polynomial({4, 2.0})(a), tolerance, "half");
  }
}

}  // namespace geosft::test
