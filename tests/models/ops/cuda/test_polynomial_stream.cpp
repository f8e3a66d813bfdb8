// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_stream.h"

#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_stream {
namespace {

Outcome streamed(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& upstream, at::ScalarType type) {
  const std::optional<at::Tensor> q_ptr = a.optional("q_ptr"), k_ptr = a.optional("k_ptr");
  const at::Tensor q = a["q"].to(type), k = a["k"].to(type), v = a["v"].to(type);
  const PolynomialArguments arguments{q, k, v, n.degree, n.scale, n.causal, q_ptr, k_ptr, n.center};
  const auto [out, denominator] = cuda::streamed_forward(arguments);
  const auto [q_grad, k_grad, v_grad] = cuda::streamed_backward(upstream.to(type), out, denominator, arguments);
  return {out, {{"q", q_grad}, {"k", k_grad}, {"v", v_grad}}};
}

void require_streamed(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& upstream,
                      const Outcome& expected, const std::string& what) {
  require_outcome(streamed(a, n, upstream, at::kDouble), expected, 1e-10, 1e-10, what + " float64");
  require_outcome(streamed(a, n, upstream, at::kFloat), expected, 2e-5, 1e-4, what + " float32");
}

bool worth(int64_t items, int64_t rows, int64_t c, int64_t degree, const std::optional<at::Tensor>& ptr = {}) {
  const at::Tensor x = at::empty({items * rows, 4, c}, at::kMeta);
  const auto meta = ptr ? ptr : std::nullopt;
  return cuda::worth_streaming({x, x, x, degree, 1.0, false, meta, meta, false});
}

}  // namespace

TEST_CASE("streamed polynomial_attention reproduces the golden cases", "[polynomial_stream]") {
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
    require_streamed(a, polynomial_numbers(fixture), fixture.get("grad_out"), expected, name);
  }
}

TEST_CASE("streamed polynomial_attention of several blocks agrees with the reference", "[polynomial_stream]") {
  struct Case {
    Sizes sizes;
    PolynomialNumbers numbers;
  };
  uint64_t seed = 70;
  for (const auto& [sizes, numbers] :
       {Case{{{129}, {33}, 3, 5, 7}, {4, 2.0}}, Case{{{5, 0, 131, 2, 3}, {4, 3, 65, 0, 9}, 2, 17, 3}, {3, -2.0}},
        Case{{{300, 1, 0, 66}, {300, 1, 0, 66}, 2, 3, 20}, {2, 2.0, true}},
        Case{{{40, 7}, {70, 5}, 1, 128, 65}, {2, 2.0, false, true}}, Case{{{450}, {450}, 1, 3, 40}, {8, 2.0, true}},
        Case{{{90}, {140}, 2, 16, 4}, {5, 1.0}}}) {
    const Arguments a = random_polynomial(sizes, ++seed);
    const at::Tensor upstream = at::randn({a["q"].size(0), sizes.heads, sizes.cv}, generator(5), at::kDouble);
    require_streamed(a, numbers, upstream, evaluate(slow_polynomial(numbers), a, upstream, at::kDouble),
                     "case " + std::to_string(seed));
  }
}

TEST_CASE("streamed polynomial_attention takes float16 and bfloat16", "[polynomial_stream]") {
  const Arguments a = random_polynomial({{20, 3}, {17, 2}, 2, 4, 5}, 36);
  const at::Tensor upstream = at::ones({23, 2, 5}, at::kDouble);
  for (const auto& [type, tolerance] : {std::pair(at::kHalf, 5e-3), std::pair(at::kBFloat16, 5e-2)}) {
    const Outcome actual = streamed(a, {4, 2.0}, upstream, type);
    REQUIRE(actual.out.scalar_type() == type);
    for (const auto& [name, gradient] : actual.gradients) REQUIRE(gradient.scalar_type() == type);
    require_close(actual.out, slow_polynomial({4, 2.0})(a), tolerance, "half");
  }
}

TEST_CASE("long items are streamed, where the host knows them", "[polynomial_stream]") {
  REQUIRE(worth(1, 65536, 8, 2));
  REQUIRE(worth(1, 65536, 8, 4));
  REQUIRE_FALSE(worth(1, 512, 8, 2));
  REQUIRE_FALSE(worth(1, 65536, 64, 4));  // 814,385 monomials
  const at::Tensor ptr = at::tensor({0, 32768, 65536}, at::kLong);
  REQUIRE(worth(2, 32768, 8, 2, ptr));
  REQUIRE_FALSE(worth(2, 32768, 8, 2, ptr.to(at::kMeta)));
  REQUIRE_FALSE(worth(1024, 64, 8, 2, at::arange(1025) * 64));
}

TEST_CASE("streamed polynomial_attention names the argument that is wrong", "[polynomial_stream]") {
  Arguments a = random_polynomial({{4, 3}, {4, 3}, 1, 2, 2}, 41);
  a.tensors["k_ptr"] = at::tensor({0, 3, 7}, at::kLong);
  require_error([&] { streamed(a, {2, 1.0, true}, at::ones({7, 1, 2}), at::kFloat); }, {"causal", "q_ptr and k_ptr"});
}

}  // namespace geosft::test::test_polynomial_stream
