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

bool worth(int64_t items, int64_t rows, int64_t c, int64_t degree, const std::optional<at::Tensor>& ptr = {}) {
  const at::Tensor x = at::empty({items * rows, 4, c}, at::kMeta);
  const auto meta = ptr ? ptr : std::nullopt;
  return cuda::worth_streaming({x, x, x, degree, 1.0, false, meta, meta, false});
}

}  // namespace

TEST_CASE("streamed polynomial_attention reproduces the golden cases", "[polynomial_stream]") {
  require_golden_runs(streamed);
}

TEST_CASE("streamed polynomial_attention of several blocks agrees with the reference", "[polynomial_stream]") {
  require_reference_runs(streamed, awkward_polynomials());
  require_reference_runs(streamed, {{{{300, 1, 0, 66}, {300, 1, 0, 66}, 2, 3, 20}, {2, 2.0, true}},
                                    {{{450}, {450}, 1, 3, 40}, {8, 2.0, true}},
                                    {{{90}, {140}, 2, 16, 4}, {5, 1.0}}});
}

TEST_CASE("streamed polynomial_attention takes float16 and bfloat16", "[polynomial_stream]") {
  require_half_runs(streamed);
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
