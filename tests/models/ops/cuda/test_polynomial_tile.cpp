// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_tile.h"

#include "models/ops/cuda/polynomial_host.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_tile {
namespace {

// The CUDA kernels, emulated: result and gradients.
template <ThreadOrder kOrder = ThreadOrder::kAscending>
Outcome emulated(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& upstream, at::ScalarType type) {
  const std::optional<at::Tensor> q_ptr = a.optional("q_ptr"), k_ptr = a.optional("k_ptr");
  const at::Tensor q = a["q"].to(type), k = a["k"].to(type), v = a["v"].to(type);
  const PolynomialArguments arguments{q, k, v, n.degree, n.scale, n.causal, q_ptr, k_ptr, n.center};
  const auto run = [](const auto& in) { cuda::polynomial_grids(in, EmulatedGrids<kOrder>()); };
  const auto [out, denominator] = cuda::polynomial_forward(arguments, run);
  const auto [q_grad, k_grad, v_grad] = cuda::polynomial_backward(upstream.to(type), out, denominator, arguments, run);
  return {out, {{"q", q_grad}, {"k", k_grad}, {"v", v_grad}}};
}

void require_emulated(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& upstream,
                      const Outcome& expected, const std::string& what) {
  require_outcome(emulated(a, n, upstream, at::kDouble), expected, 1e-10, 1e-10, what + " float64");
  const Outcome actual = emulated(a, n, upstream, at::kFloat);
  require_outcome(actual, expected, 2e-5, 1e-4, what + " float32");
  const Outcome turned = emulated<ThreadOrder::kDescending>(a, n, upstream, at::kFloat);
  require_equal(turned.out, actual.out, what + " other order");
  for (const auto& [name, gradient] : actual.gradients) require_equal(turned.gradients.at(name), gradient, name);
}

}  // namespace

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, reproduce the golden cases", "[polynomial_tile]") {
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
    require_emulated(a, polynomial_numbers(fixture), fixture.get("grad_out"), expected, name);
  }
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, agree with the reference", "[polynomial_tile]") {
  struct Case {
    Sizes sizes;
    PolynomialNumbers numbers;
  };
  uint64_t seed = 70;
  for (const auto& [sizes, numbers] :
       {Case{{{129}, {33}, 3, 5, 7}, {4, 2.0}}, Case{{{5, 0, 131, 2, 3}, {4, 3, 65, 0, 9}, 2, 17, 3}, {3, -2.0}},
        Case{{{70, 1, 0, 66}, {70, 1, 0, 66}, 2, 33, 20}, {2, 2.0, true}},
        Case{{{40, 7}, {70, 5}, 1, 128, 65}, {2, 2.0, false, true}}, Case{{{150}, {150}, 1, 3, 40}, {8, 2.0, true}}}) {
    Arguments a = random_polynomial(sizes, ++seed);
    if (sizes.queries.size() == 1) {
      a.tensors.erase("q_ptr");
      a.tensors.erase("k_ptr");
    }
    const at::Tensor upstream = at::randn({a["q"].size(0), sizes.heads, sizes.cv}, generator(5), at::kDouble);
    require_emulated(a, numbers, upstream, evaluate(slow_polynomial(numbers), a, upstream, at::kDouble),
                     "case " + std::to_string(seed));
  }
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, take float16 and bfloat16", "[polynomial_tile]") {
  const Arguments a = random_polynomial({{20, 3}, {17, 2}, 2, 4, 5}, 36);
  const at::Tensor upstream = at::ones({23, 2, 5}, at::kDouble);
  for (const auto& [type, tolerance] : {std::pair(at::kHalf, 5e-3), std::pair(at::kBFloat16, 5e-2)}) {
    const Outcome actual = emulated(a, {4, 2.0}, upstream, type);
    REQUIRE(actual.out.scalar_type() == type);
    for (const auto& [name, gradient] : actual.gradients) REQUIRE(gradient.scalar_type() == type);
    require_close(actual.out, slow_polynomial({4, 2.0})(a), tolerance, "half");
  }
}

TEST_CASE("the CUDA kernels of polynomial_attention name the argument that is too wide", "[polynomial_tile]") {
  for (const auto& [c, cv] : {std::pair(129, 1), std::pair(1, 130)}) {
    const Arguments a = random_polynomial({{1}, {1}, 1, c, cv}, 41);
    require_error([&] { emulated(a, {1, 1.0}, at::ones({1, 1, cv}), at::kFloat); }, {"q", "v", "128"});
  }
}

}  // namespace geosft::test::test_polynomial_tile
