// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_kernels.cuh"

#include "models/ops/cuda/polynomial_host.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/ops/cuda/filled_memory.h"
#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_kernels {
namespace {

// The stages that a call ran.
struct Stages {
  int table = 0, sums = 0, monomials = 0, pairs = 0;

  void note(cuda::MonomialTableStage) { ++table; }
  void note(cuda::MonomialSumStage) { ++sums; }
  void note(cuda::MonomialStage) { ++monomials; }
  void note(cuda::PairStage) { ++pairs; }
};

// The CUDA kernels, emulated: result and gradients. kKnown: the host sees the items' lengths.
template <bool kKnown = true, ThreadOrder kOrder = ThreadOrder::kAscending>
Outcome emulated(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& grad_output, at::ScalarType type,
                 Stages* stages = nullptr) {
  const FilledMemory filled;
  const std::optional<at::Tensor> q_ptr = a.optional("q_ptr"), k_ptr = a.optional("k_ptr");
  const at::Tensor q = a["q"].to(type), k = a["k"].to(type), v = a["v"].to(type);
  const PolynomialArguments arguments{q, k, v, n.degree, n.scale, n.causal, q_ptr, k_ptr, n.center};
  arguments.check();
  const auto run = [&](const auto& call) {
    if (stages) stages->note(call.stage);
    cuda::run_grids(call, EmulatedGrids<kOrder>());
  };
  const auto known = kKnown ? cuda::known_offsets(arguments) : std::nullopt;
  const auto [out, denominator] = cuda::polynomial_forward(arguments, known, run);
  const auto [q_grad, k_grad, v_grad] =
      cuda::polynomial_backward(grad_output.to(type), out, denominator, arguments, known, run);
  return {out, {{"q", q_grad}, {"k", k_grad}, {"v", v_grad}}};
}

void require_same(const Outcome& actual, const Outcome& expected, const std::string& what) {
  require_equal(actual.out, expected.out, what);
  for (const auto& [name, gradient] : expected.gradients)
    require_equal(actual.gradients.at(name), gradient, what + name);
}

// The same bits in the other order of threads.
Outcome ordered(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& grad_output, at::ScalarType type) {
  Outcome actual = emulated(a, n, grad_output, type);
  require_same(emulated<true, ThreadOrder::kDescending>(a, n, grad_output, type), actual, "other order ");
  return actual;
}

// Every size of the tables and of the factors, tiles and chunks that are not full, all options; the second of a pair
// says whether all rows go by monomials, so that no pair is left.
std::vector<std::pair<PolynomialCase, bool>> monomial_cases() {
  return {{{{{600}, {600}, 2, 3, 4}, {4, 2.0}}, true},
          {{{{300, 700}, {420, 257}, 1, 2, 20}, {2, -2.0, false, true}}, true},
          {{{{300, 5, 0, 64, 513, 40}, {270, 9, 7, 300, 600, 0}, 2, 2, 9}, {3, 1.5}}, false},
          {{{{700, 3, 0, 300}, {700, 3, 0, 300}, 2, 3, 3}, {2, 2.0, true}}, false},
          {{{{900}, {900}, 1, 2, 17}, {4, -1.0, true}}, false},
          {{{{450}, {380}, 1, 10, 5}, {3, 2.0}}, true},
          {{{{290, 500}, {900, 400}, 1, 2, 3}, {60, 2.0}}, true},
          {{{{500}, {450}, 1, 2, 3}, {20, 2.0}}, true},
          {{{{500}, {450}, 1, 50, 3}, {2, 2.0}}, true},
          {{{{70, 40}, {150, 900}, 2, 128, 40}, {1, 1.0}}, true},
          {{{{300}, {100}, 2, 8, 8}, {0, 1.0}}, true},
          {{{{600}, {600}, 1, 8, 8}, {4, 2.0}}, true},
          {{{{500}, {450}, 1, 8, 8}, {2, 2.0}}, true},
          {{{{700}, {700}, 1, 8, 8}, {2, 2.0, true}}, false},
          {{{{300}, {200}, 1, 2, 1}, {66, 2.0}}, true}};  // 16 factors
}

}  // namespace

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, reproduce the golden cases", "[polynomial_kernels]") {
  require_golden_runs(ordered);
  require_golden_runs([](const auto&... a) { return emulated<false>(a...); });
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, agree with the reference pair by pair",
          "[polynomial_kernels]") {
  require_reference_runs(ordered, awkward_polynomials());
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, agree with the reference through monomials",
          "[polynomial_kernels]") {
  for (const auto& [polynomial, alone] : monomial_cases()) {
    for (const bool known : {true, false}) {
      Stages stages;
      const auto run = [&](const Arguments& a, const PolynomialNumbers& n, const at::Tensor& grad_output,
                           at::ScalarType type) {
        return known ? emulated<true>(a, n, grad_output, type, &stages)
                     : emulated<false>(a, n, grad_output, type, &stages);
      };
      INFO("c " << polynomial.sizes.c << " cv " << polynomial.sizes.cv << " degree " << polynomial.numbers.degree);
      require_reference_runs(run, {polynomial});
      CHECK(stages.table == 4);  // once forward and once backward, in both precisions
      CHECK(stages.sums == 6);
      CHECK(stages.monomials == 6);
      CHECK(stages.pairs == (known && alone ? 0 : 6));
    }
  }
}

TEST_CASE("the CUDA kernels of polynomial_attention give the same bits whether the host knows the items or not",
          "[polynomial_kernels]") {
  for (const auto& [polynomial, alone] : monomial_cases()) {
    if (polynomial.sizes.queries.size() == 1) continue;
    const Arguments a = random_polynomial(polynomial.sizes, 9);
    const at::Tensor grad_output = at::ones({a["q"].size(0), a["q"].size(1), a["v"].size(2)}, at::kDouble);
    const Outcome known = emulated<true>(a, polynomial.numbers, grad_output, at::kFloat);
    require_same(emulated<false>(a, polynomial.numbers, grad_output, at::kFloat), known, "unknown ");
    require_same(ordered(a, polynomial.numbers, grad_output, at::kFloat), known, "again ");
  }
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, take values without channels", "[polynomial_kernels]") {
  for (const int64_t tokens : {7, 600}) {  // pair by pair, and by monomials
    for (const bool causal : {false, true}) {
      INFO(tokens << " tokens" << (causal ? ", causal" : ""));
      const Arguments a = random_polynomial({{tokens}, {tokens}, 2, 3, 0}, 18);
      Stages stages;
      const Outcome outcome = emulated(a, {2, 2.0, causal}, at::ones({tokens, 2, 0}), at::kFloat, &stages);
      CHECK((stages.monomials > 0) == (tokens == 600));
      REQUIRE(outcome.out.sizes() == at::IntArrayRef({tokens, 2, 0}));
      REQUIRE(outcome.gradients.at("v").sizes() == at::IntArrayRef({tokens, 2, 0}));
      for (const char* name : {"q", "k"}) {
        require_equal(outcome.gradients.at(name), at::zeros({tokens, 2, 3}), name);
      }
    }
  }
}

TEST_CASE("the CUDA kernels of polynomial_attention keep NaN to the rows that meet it", "[polynomial_kernels]") {
  const Arguments good = random_polynomial({{600, 70}, {600, 70}, 1, 2, 3}, 17);
  const at::Tensor grad_output = at::ones({670, 1, 3}, at::kDouble);
  const int64_t at = 300;  // in the middle of a chunk
  for (const char* name : {"q", "v"}) {
    for (const bool causal : {false, true}) {
      INFO(name << (causal ? " causal" : ""));
      Arguments bad = good;
      bad.tensors[name] = good[name].clone();
      bad.tensors[name][at].fill_(std::nan(""));
      const Outcome outcome = emulated(bad, {2, 1.0, causal}, grad_output, at::kDouble);
      const bool in_query = name == std::string("q");
      const int64_t from = in_query || causal ? at : 0, to = in_query ? at + 1 : 600;
      const auto finite = [](const at::Tensor& rows) { return rows.isfinite().all().item<bool>(); };
      CHECK(finite(outcome.out.slice(0, 0, from)));
      CHECK(finite(outcome.out.slice(0, to)));
      CHECK(outcome.out.slice(0, from, to).isnan().all().item<bool>());
      const at::Tensor& k_grad = outcome.gradients.at("k");  // a query's NaN reaches the keys that it meets
      if (in_query) CHECK(k_grad.slice(0, 0, causal ? at + 1 : 600).isnan().all().item<bool>());
      if (in_query) CHECK(finite(k_grad.slice(0, causal ? at + 1 : 600)));
    }
  }
}

TEST_CASE("the CUDA kernels of polynomial_attention under a causal mask do not see the future",
          "[polynomial_kernels]") {
  const Arguments a = random_polynomial({{700}, {700}, 1, 3, 2}, 12);
  Arguments changed = a;
  for (const char* name : {"q", "k", "v"}) {
    changed.tensors[name] = at::cat({a[name].slice(0, 0, 400), -a[name].slice(0, 400)});
  }
  const at::Tensor grad_output = at::ones({700, 1, 2}, at::kDouble);
  require_equal(emulated(changed, {2, 1.0, true}, grad_output, at::kFloat).out.slice(0, 0, 400),
                emulated(a, {2, 1.0, true}, grad_output, at::kFloat).out.slice(0, 0, 400), "past");
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, take float16 and bfloat16", "[polynomial_kernels]") {
  require_half_runs([](const auto&... a) { return emulated<>(a...); });
}

TEST_CASE("the CUDA kernels of polynomial_attention name the argument that is wrong", "[polynomial_kernels]") {
  for (const auto& [c, cv] : {std::pair(129, 1), std::pair(1, 130)}) {
    const Arguments a = random_polynomial({{1}, {1}, 1, c, cv}, 41);
    const at::Tensor grad_output = at::ones({1, 1, cv});
    require_error([&] { emulated(a, {1, 1.0}, grad_output, at::kFloat); }, {"q", "v", "128"});
  }
  Arguments a = random_polynomial({{4, 3}, {4, 3}, 1, 2, 2}, 41);
  a.tensors["k_ptr"] = at::tensor({0, 3, 7}, at::kLong);
  require_error([&] { emulated(a, {2, 1.0, true}, at::ones({7, 1, 2}), at::kFloat); }, {"causal", "q_ptr and k_ptr"});
}

}  // namespace geosft::test::test_polynomial_kernels
