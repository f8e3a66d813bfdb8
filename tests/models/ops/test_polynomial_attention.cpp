// SPDX-License-Identifier: Apache-2.0
#include "models/ops/polynomial_attention.h"

#include <cmath>

#include "models/ops/cpu/polynomial_problem.h"
#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_attention {
namespace {

constexpr double kScale = 2.0;

// Whether items of `tokens` queries and keys go through monomials, rather than pair by pair.
bool uses_monomials(int64_t tokens, int64_t c, int64_t cv, const PolynomialNumbers& n) {
  const MonomialBasis basis(c, n.degree);
  const Reach reach = n.causal ? Reach::before : Reach::all;
  return !polynomial_plan({0, tokens}, {0, tokens}, 1, cv, basis, reach).pairs.front().direct;
}

void require_slow(const Sizes& sizes, const PolynomialNumbers& numbers, uint64_t seed, const std::string& what) {
  require_reference(fused_polynomial(numbers), slow_polynomial(numbers), random_polynomial(sizes, seed),
                    what + " degree " + std::to_string(numbers.degree));
}

}  // namespace

TEST_CASE("polynomial_attention reproduces the golden cases", "[polynomial_attention]") {
  // Measured: 1.8e-15 of 1e-10, 2.0e-7 of 5e-6, 9.2e-7 of 2e-5 that are allowed.
  for (const char* name : {"one", "ragged_g4", "ragged_g6", "ragged_g3", "cross_ragged", "causal_one", "causal_ragged",
                           "negative_scale", "g0", "g1", "centered_ragged"}) {
    const std::string file = std::string("polynomial_") + name;
    const Attention fused = fused_polynomial(polynomial_numbers(Fixture(file)));
    require_fixture(fused, file, {"q", "k", "v", "q_ptr", "k_ptr"});
  }
}

TEST_CASE("polynomial_attention agrees with the reference pair by pair, degrees 0 to 8", "[polynomial_attention]") {
  for (int64_t degree = 0; degree <= 8; ++degree) {
    for (const Sizes& sizes : awkward_sizes()) {
      const bool alone = sizes.keys == std::vector<int64_t>{1};  // then gradients are 0 but for rounding: see below
      if (alone || monomial_count(sizes.c, degree) > kMaxMonomials) continue;
      require_slow(sizes, {degree, kScale, false, degree % 3 == 0}, 20 + degree, "pairs");
    }
    require_slow({{1, 5, 0, 33, 70}, {1, 5, 0, 33, 70}, 2, 3, 4}, {degree, kScale, true}, 40 + degree, "causal pairs");
  }
}

TEST_CASE("polynomial_attention agrees with the reference through monomials", "[polynomial_attention]") {
  // Measured over 1,000 seeds, at most: 5.7e-14 of 1e-10, 2.0e-6 of 2e-5, 1.2e-5 of 0.0001 that are allowed.
  struct Case {
    int64_t tokens, c, cv;
    PolynomialNumbers numbers;
  };
  for (const auto& [tokens, c, cv, numbers] :
       {Case{37, 1, 1, {0, kScale}}, Case{75, 1, 3, {8, kScale}}, Case{77, 2, 1, {1, -kScale}},
        Case{160, 3, 9, {4, kScale}}, Case{200, 5, 17, {2, kScale}}, Case{170, 2, 12, {7, kScale}},
        Case{330, 4, 2, {5, kScale, false, true}}, Case{90, 1, 3, {8, kScale, true}},
        Case{300, 3, 5, {4, -kScale, true}}, Case{97, 7, 4, {1, kScale, true}}, Case{210, 8, 8, {3, kScale}},
        Case{120, 15, 4, {2, kScale}}, Case{200, 16, 3, {2, kScale, true}}, Case{300, 3, 5, {6, kScale}},
        Case{340, 4, 3, {6, kScale, false, true}}, Case{520, 8, 8, {4, kScale}}, Case{440, 8, 1, {4, kScale, true}}}) {
    INFO("tokens " << tokens << " c " << c << " cv " << cv << " degree " << numbers.degree);
    REQUIRE(uses_monomials(tokens, c, cv, numbers));
    require_slow({{3, tokens, 0, 1}, {3, tokens, 0, 1}, 2, c, cv}, numbers, 60 + tokens, "monomials");
  }
}

TEST_CASE("polynomial_attention adds up the chunks of long items", "[polynomial_attention]") {
  struct Case {
    int64_t tokens, c, degree, chunks;
  };
  // The second in batches of fewer rows than are read at once.
  for (const auto& [tokens, c, degree, chunks] : {Case{2100, 2, 2, 3}, Case{1200, 22, 2, 2}}) {
    for (const bool causal : {false, true}) {
      const PolynomialNumbers numbers{degree, kScale, causal};
      const Reach reach = causal ? Reach::before : Reach::all;
      INFO("degree " << degree << (causal ? " causal" : ""));
      REQUIRE(polynomial_plan({0, tokens}, {0, tokens}, 1, 2, MonomialBasis(c, degree), reach).partials == chunks);
      const Arguments a = random_polynomial({{tokens}, {tokens}, 1, c, 2}, 3);
      const at::Tensor grad_output = at::randn({tokens, 1, 2}, generator(5), at::kDouble);
      require_outcome(evaluate(fused_polynomial(numbers), a, grad_output, at::kDouble),
                      evaluate(slow_polynomial(numbers), a, grad_output, at::kDouble), 1e-10, 1e-10, "long");
    }
  }
}

TEST_CASE("polynomial_attention passes gradcheck", "[polynomial_attention]") {
  require_gradcheck(fused_polynomial({3, 0.7}), random_polynomial({{5, 3}, {4, 2}, 2, 3, 2}, 3));
  require_gradcheck(fused_polynomial({2, 0.7, true}), random_polynomial({{6, 3}, {6, 3}, 1, 2, 3}, 4));
  require_gradcheck(fused_polynomial({2, 0.7, false, true}), random_polynomial({{6}, {5}, 1, 2, 2}, 5));
}

TEST_CASE("polynomial_attention does not depend on the number of threads", "[polynomial_attention]") {
  for (const PolynomialNumbers& numbers : {PolynomialNumbers{4, 1.0}, PolynomialNumbers{2, 1.0, true}}) {
    for (const std::vector<int64_t>& items : {std::vector<int64_t>{5000}, std::vector<int64_t>{700, 30, 1111}}) {
      const Arguments a = random_polynomial({items, items, 2, 4, 8}, 7);
      require_same_bits(fused_polynomial(numbers), a, at::randn({a["q"].size(0), 2, 8}, generator(8)));
    }
  }
}

TEST_CASE("polynomial_attention of equal scores is the mean of the values", "[polynomial_attention]") {
  for (const int64_t tokens : {1, 40, 400}) {
    Arguments a = random_polynomial({{tokens}, {tokens}, 2, 3, 4}, 9);
    const at::Tensor mean = a["v"].mean(0, true).expand({tokens, 2, 4});
    const at::Tensor grad_output = at::randn({tokens, 2, 4}, generator(5), at::kDouble);
    const Outcome flat = evaluate(fused_polynomial({4, 0.0}), a, grad_output, at::kDouble);
    require_close(flat.out, mean, 1e-14, "scale 0");
    require_close(flat.gradients.at("v"), grad_output.mean(0, true).expand_as(mean), 1e-12, "scale 0 gradient of v");
    for (const char* name : {"q", "k"}) {
      require_close(flat.gradients.at(name), at::zeros_like(a[name]), 1e-14,
                    std::string("scale 0 gradient of ") + name);
    }
    a.tensors["q"].zero_();
    const Outcome zero = evaluate(fused_polynomial({4, 1.0}), a, grad_output, at::kDouble);
    require_close(zero.out, mean, 1e-14, "q 0");
    // Over one key the gradients of q and k are 0 but for rounding.
    require_outcome(zero, evaluate(slow_polynomial({4, 1.0}), a, grad_output, at::kDouble), 1e-12, 1e-12, "q 0", 1.0);
  }
}

TEST_CASE("polynomial_attention over one key is its value", "[polynomial_attention]") {
  // Measured over 1,000 seeds, at most: 2.3e-16 where 1e-14 is allowed, and 7.6e-15 where 1e-13 is allowed.
  for (const int64_t queries : {1, 100}) {
    for (const int64_t degree : {0, 7, 8}) {
      for (const auto& [causal, center] : {std::pair(false, false), std::pair(true, false), std::pair(false, true)}) {
        if (causal && queries != 1) continue;
        const Arguments a = random_polynomial({{queries}, {1}, 1, 1, 3}, 9);
        const at::Tensor grad_output = at::randn({queries, 1, 3}, generator(5), at::kDouble);
        const PolynomialNumbers numbers{degree, 1.0, causal, center};
        const Outcome outcome = evaluate(fused_polynomial(numbers), a, grad_output, at::kDouble);
        INFO("queries " << queries << " degree " << degree << (causal ? " causal" : "") << (center ? " centred" : ""));
        require_close(outcome.out, a["v"].expand({queries, 1, 3}), 1e-14, "out");
        require_close(outcome.gradients.at("v"), grad_output.sum(0, true), 1e-13, "gradient of v");
        for (const char* name : {"q", "k"}) {
          require_close(outcome.gradients.at(name), at::zeros_like(a[name]), 1e-13, std::string("gradient of ") + name);
        }
      }
    }
  }
}

TEST_CASE("polynomial_attention of values without channels has gradients of zeros", "[polynomial_attention]") {
  for (const int64_t tokens : {7, 150}) {
    at::Generator random = generator(3);
    const at::Tensor q = at::randn({tokens, 2, 3}, random).requires_grad_();
    const at::Tensor k = at::randn({tokens, 2, 3}, random).requires_grad_();
    const at::Tensor out = polynomial_attention(q, k, at::empty({tokens, 2, 0}), 2, kScale);
    REQUIRE(out.sizes() == at::IntArrayRef({tokens, 2, 0}));
    out.sum().backward();
    require_equal(q.grad(), at::zeros_like(q), "q");
    require_equal(k.grad(), at::zeros_like(k), "k");
  }
}

TEST_CASE("polynomial_attention becomes softmax attention as the degree grows", "[polynomial_attention]") {
  // Measured over 1,000 seeds, at most: 4.7e-12 where 1e-9 is allowed, and 1.4e-10 where 1e-8 is allowed.
  const Arguments a = random_polynomial({{50}, {60}, 2, 4, 3}, 10);
  const at::Tensor grad_output = at::randn({50, 2, 3}, generator(5), at::kDouble);
  const Outcome exact = evaluate(slow_polynomial({-1, 1.0}), a, grad_output, at::kDouble);
  require_outcome(evaluate(fused_polynomial({14, 1.0}), a, grad_output, at::kDouble), exact, 1e-9, 1e-8, "degree 14");
}

TEST_CASE("polynomial_attention keeps NaN to the tokens that see it", "[polynomial_attention]") {
  for (const int64_t tokens : {50, 400}) {
    const Arguments good = random_polynomial({{tokens, 30}, {tokens, 30}, 2, 3, 4}, 11);
    for (const char* name : {"k", "v"}) {
      for (const bool causal : {false, true}) {
        Arguments bad = good;
        bad.tensors[name] = good[name].clone();
        bad.tensors[name][tokens - 7].fill_(std::nan(""));
        const at::Tensor out = fused_polynomial({2, 1.0, causal})(bad);
        INFO(name << (causal ? " causal" : ""));
        const int64_t first = causal ? tokens - 7 : 0;
        REQUIRE(out.slice(0, first, tokens).isnan().all().item<bool>());
        REQUIRE(out.slice(0, 0, first).isfinite().all().item<bool>());
        REQUIRE(out.slice(0, tokens).isfinite().all().item<bool>());
      }
    }
  }
}

TEST_CASE("polynomial_attention passes NaN of queries and output gradients only to results that depend on them",
          "[polynomial_attention]") {
  for (const int64_t tokens : {50, 400}) {
    const int64_t at = tokens - 7, all = tokens + 30;
    const Arguments good = random_polynomial({{tokens, 30}, {tokens, 30}, 2, 3, 4}, 11);
    for (const bool in_query : {false, true}) {
      for (const bool causal : {false, true}) {
        Arguments bad = good;
        at::Tensor grad_output = at::randn({all, 2, 4}, generator(5), at::kDouble);
        at::Tensor broken = in_query ? bad.tensors["q"] = good["q"].clone() : grad_output;
        broken[at].fill_(std::nan(""));
        const Outcome outcome = evaluate(fused_polynomial({2, 1.0, causal}), bad, grad_output, at::kDouble);
        INFO(tokens << (in_query ? " q" : " grad_output") << (causal ? " causal" : ""));
        const auto finite_but_row = [&](const at::Tensor& rows) {
          return rows.slice(0, 0, at).isfinite().all().item<bool>() &&
                 rows.slice(0, at + 1).isfinite().all().item<bool>();
        };
        REQUIRE(finite_but_row(outcome.out));
        REQUIRE(outcome.out[at].isnan().all().item<bool>() == in_query);
        REQUIRE(finite_but_row(outcome.gradients.at("q")));
        REQUIRE(outcome.gradients.at("q")[at].isnan().all().item<bool>());
        for (const char* name : {"k", "v"}) {
          const at::Tensor& gradient = outcome.gradients.at(name);
          REQUIRE(gradient.slice(0, 0, causal ? at + 1 : tokens).isnan().all().item<bool>());
          REQUIRE(gradient.slice(0, causal ? at + 1 : tokens).isfinite().all().item<bool>());
        }
      }
    }
  }
}

TEST_CASE("polynomial_attention under a causal mask does not see the future", "[polynomial_attention]") {
  for (const int64_t tokens : {70, 500}) {
    const Arguments a = random_polynomial({{tokens}, {tokens}, 1, 3, 2}, 12);
    const at::Tensor all = fused_polynomial({2, 1.0, true})(a);
    Arguments changed = a;
    for (const char* name : {"q", "k", "v"})
      changed.tensors[name] = at::cat({a[name].slice(0, 0, 40), -a[name].slice(0, 40)});
    require_equal(fused_polynomial({2, 1.0, true})(changed).slice(0, 0, 40), all.slice(0, 0, 40), "past");
  }
}

TEST_CASE("polynomial_attention takes float16 and bfloat16", "[polynomial_attention]") {
  require_half(fused_polynomial({4, 1.0}), slow_polynomial({4, 1.0}),
               random_polynomial({{200, 3}, {200, 2}, 2, 2, 5}, 13));
}

TEST_CASE("polynomial_attention takes strided inputs and leaves them alone", "[polynomial_attention]") {
  require_strided(fused_polynomial({3, 1.0, false, true}), random_polynomial({{9, 4}, {7, 5}, 3, 4, 4}, 14));
  require_strided(fused_polynomial({2, 1.0}), random_polynomial({{90, 4}, {80, 5}, 2, 2, 4}, 15));  // by monomials
}

TEST_CASE("polynomial_attention refuses double backward", "[polynomial_attention]") {
  require_single_backward(fused_polynomial({2, 1.0}), random_polynomial({{4, 2}, {3, 1}, 1, 2, 2}, 15),
                          "polynomial_attention");
}

TEST_CASE("polynomial_attention names the argument that is wrong", "[polynomial_attention]") {
  const Arguments good = random_polynomial({{4, 3}, {3, 2}, 2, 3, 2}, 16);
  const auto refuses = [&](const std::string& name, const at::Tensor& value) {
    Arguments bad = good;
    bad.tensors[name] = value;
    require_error([&] { fused_polynomial({2, 1.0})(bad); }, {name});
  };
  const auto doubles = at::TensorOptions().dtype(at::kDouble);
  refuses("q", at::zeros({7, 6}, doubles));
  refuses("q", at::zeros({7, 2, 0}, doubles));
  refuses("k", at::zeros({5, 2, 4}, doubles));
  refuses("k", at::zeros({5, 2, 3}, at::kFloat));
  refuses("v", at::zeros({4, 2, 2}, doubles));
  refuses("q_ptr", at::tensor({0, 5, 4, 7}, at::kLong));
  refuses("k_ptr", at::tensor({0, 3, 5}, at::kInt));
  refuses("k_ptr", at::tensor({0, 5}, at::kLong));
  const auto refuses_numbers = [&](const PolynomialNumbers& numbers, const std::vector<std::string>& words) {
    require_error([&] { fused_polynomial(numbers)(good); }, words);
  };
  refuses_numbers({-1, 1.0}, {"degree", "-1"});
  refuses_numbers({100, 1.0}, {"degree 100", "176851", "monomials", "exact attention"});
  refuses_numbers({2, std::nan("")}, {"scale"});
  refuses_numbers({2, 1.0, true, true}, {"center", "future"});
  refuses_numbers({2, 1.0, true}, {"causal", "k"});
  Arguments moved = good;
  moved.tensors["k"] = at::zeros({7, 2, 3}, doubles);
  moved.tensors["v"] = at::zeros({7, 2, 2}, doubles);
  moved.tensors["k_ptr"] = at::tensor({0, 3, 7}, at::kLong);
  require_error([&] { fused_polynomial({2, 1.0, true})(moved); }, {"causal", "q_ptr"});
}

}  // namespace geosft::test::test_polynomial_attention
